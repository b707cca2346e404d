import { type Account, createAccounts } from './accounts.ts';
import { createClientQueues } from './client-queues.ts';
import { createModestClients, type ModestClients } from './modest-clients.ts';

/** Charges the client of a request for what it kept the thread for behind its first wait. */
export type AlsoKept = (ms: number) => void;

/**
 * Begins a request when it is its client's turn; what it gives is how many bytes were answered. What it keeps the thread
 * for until it waits for anything is measured here, and what it does behind that it tells.
 * @throws BusyError
 */
export type Turns = (address: string, work: (alsoKept: AlsoKept) => Promise<number>) => Promise<void>;

export interface TurnsOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once what came meanwhile has been looked at. */
  later?(call: () => void): void;
  /** Is told who asks, for whoever else has to make room. */
  modest?: ModestClients;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
}

/** A tenth of the thread, of what halves with each second. */
const LITTLE_MS = 150;
/** So long requests are begun before anything else is looked at. */
const SLICE_MS = 1;
/** Those who have had much rest so many times as long as what they were given kept the thread. */
const RESTS = 3;
/** What keeps the thread for longer is none of theirs. */
const MOST_REST_MS = 100;
/** Beside what is measured of a request: it is read and routed, and its answer is written. */
const LEAST_MS = 0.05;
const BYTES_PER_MS = 2_000_000;
const MOST = 2_048;
const WAIT_MS = 5_000;

/**
 * One thread answers everybody. Who has had little of it is answered at once, as long as few ask; else all wait in a line
 * each, least had first. While somebody who has had little is about, those who have had much have a quarter of the time.
 */
export function createTurns({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
  after = (call, ms) => void setTimeout(call, ms),
  modest = createModestClients(now),
}: TurnsOptions = {}): Turns {
  const accounts = createAccounts(now);
  const queues = createClientQueues(accounts, MOST, WAIT_MS);
  const hasHadLittle = (account: Account) => accounts.had(account) <= LITTLE_MS;
  const anybody = () => true;
  /** What was begun since what came from outside was last looked at. */
  let begun = 0;
  let isCalling = false;
  let isResting = false;
  /** How long what they were given kept the thread, that those who have had much have not rested for. */
  let owed = 0;

  const callSoon = () => {
    if (isCalling) return;
    isCalling = true;
    later(callNext);
  };
  const rest = (ms: number) => {
    isResting = true;
    after(() => {
      isResting = false;
      callSoon();
    }, ms);
  };
  /** What is begun now is behind it looked up, packed and written: all of that is counted until others are heard again. */
  const oweWhatFollows = () => {
    const startedAt = now();
    later(() => {
      owed += now() - startedAt;
      if (owed < SLICE_MS) return;
      if (modest.anyRecent()) rest(Math.min(RESTS * owed, MOST_REST_MS));
      owed = 0;
    });
  };
  const callNext = () => {
    isCalling = false;
    begun = 0;
    const may = isResting ? hasHadLittle : anybody;
    if (!isResting && queues.any()) oweWhatFollows();
    while (begun < SLICE_MS) if (!queues.call(may)) return;
    begun = 0;
    callSoon();
  };

  return (address, work) =>
    new Promise((resolve, refuse) => {
      const account = accounts.of(address);
      const begin = () => {
        const startedAt = now();
        const answered = work((ms) => accounts.charge(account, ms));
        const took = now() - startedAt;
        begun += took;
        accounts.charge(account, took + LEAST_MS);
        answered.then((bytes) => {
          accounts.charge(account, bytes / BYTES_PER_MS);
          resolve();
        }, refuse);
      };
      const isModest = hasHadLittle(account);
      if (isModest) modest.note(account.address);
      else modest.leave(account.address);
      if (isModest && begun < SLICE_MS && !queues.has(account)) begin();
      else queues.add(account, { begin, refuse });
      // Also where nobody waits: what is begun from now on counts anew.
      if (isModest || !isResting) callSoon();
    });
}
