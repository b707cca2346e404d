import { type Account, createAccounts } from './accounts.ts';
import { createLines } from './lines.ts';

/**
 * Begins a request when it is its client's turn; what it gives is how many bytes were answered.
 * @throws BusyError
 */
export type Turns = (address: string, work: () => Promise<number>) => Promise<void>;

export interface TurnsOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once what came meanwhile has been looked at. */
  later?(call: () => void): void;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
}

/** A tenth of the thread, of what halves with each second. */
const LITTLE_MS = 150;
/** Those who have had much are served for so long before anything else is looked at. */
const SLICE_MS = 2;
/** Beside what is measured of a request: it is read and routed, and its answer is written. */
const LEAST_MS = 0.05;
const BYTES_PER_MS = 2_000_000;
const MOST = 2_048;
const WAIT_MS = 5_000;
/** Since somebody who has had little asked. */
const ABOUT_MS = 1_000;

/**
 * One thread answers everybody. Who has had little of it is answered at once. Others wait in a line each, least had
 * first; while somebody else is about these have half of the time, and all of it where nobody is.
 */
export function createTurns({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
  after = (call, ms) => void setTimeout(call, ms),
}: TurnsOptions = {}): Turns {
  const accounts = createAccounts(now);
  const lines = createLines(accounts, MOST, WAIT_MS);
  let isServing = false;
  let modestAt = Number.NEGATIVE_INFINITY;

  const serve = () => {
    const startedAt = now();
    while (now() - startedAt < SLICE_MS)
      if (!lines.call(() => true)) {
        isServing = false;
        return;
      }
    if (startedAt - modestAt < ABOUT_MS) after(serve, now() - startedAt);
    else later(serve);
  };
  const wait = (account: Account, begin: () => void, refuse: (error: Error) => void) => {
    lines.add(account, { begin, refuse });
    if (isServing) return;
    isServing = true;
    later(serve);
  };

  return (address, work) =>
    new Promise((resolve, reject) => {
      const account = accounts.of(address);
      const begin = () => {
        const startedAt = now();
        const answered = work();
        accounts.charge(account, now() - startedAt + LEAST_MS);
        answered.then((bytes) => {
          accounts.charge(account, bytes / BYTES_PER_MS);
          resolve();
        }, reject);
      };
      if (lines.has(account) || accounts.had(account) > LITTLE_MS) return wait(account, begin, reject);
      modestAt = now();
      begin();
    });
}
