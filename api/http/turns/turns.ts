import { type Account, createAccounts } from './accounts.ts';
import { createClientQueues } from './client-queues.ts';
import { createModestClients, type ModestClients } from './modest-clients.ts';

/** Charges the client of a request for the milliseconds that it kept the thread for after its first wait. */
export type ChargeThread = (ms: number) => void;

/**
 * Begins a request when it is its client's turn; `work` resolves to the number of bytes answered. The time that it
 * keeps the thread up to its first wait is measured here; what it keeps it for after that, it reports by
 * `chargeThread`.
 * @throws BusyError where too many wait, or it has waited for too long
 */
export type Turns = (address: string, work: (chargeThread: ChargeThread) => Promise<number>) => Promise<void>;

export interface TurnsOptions {
  /** Milliseconds that only go forward. */
  now?(): number;
  /** Calls back once the event loop has handled what came in meanwhile. */
  later?(call: () => void): void;
  /** Is notified of who asks, so that others can make room, too. */
  modest?: ModestClients;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
}

/** Up to here a client has used little, of what halves with each second: a tenth of the thread. */
const LITTLE_MS = 150;
/** How long requests are begun before the event loop handles anything else. */
const SLICE_MS = 1;
/** Clients that have used much rest for so many times as long as their requests kept the thread. */
const RESTS = 3;
/** They rest no longer than this: what keeps the thread for longer is none of theirs. */
const MOST_REST_MS = 100;
/** Charged for each request beside what is measured: it is read and routed, and its answer is written. */
const LEAST_MS = 0.05;
const BYTES_PER_MS = 2_000_000;
const MOST = 2_048;
const WAIT_MS = 5_000;

/**
 * One thread answers everybody. A client that has used little is answered at once, as long as few ask; otherwise each
 * has a queue, and the one that has used least is next. While a modest client is about, those that have used much have
 * a quarter of the time.
 */
export function createTurns({
  now = () => performance.now(),
  later = (call) => void setImmediate(call),
  after = (call, ms) => void setTimeout(call, ms),
  modest = createModestClients(now),
}: TurnsOptions = {}): Turns {
  const accounts = createAccounts(now);
  const queues = createClientQueues(accounts, MOST, WAIT_MS);
  const hasUsedLittle = (account: Account) => accounts.usedMs(account) <= LITTLE_MS;
  const anybody = () => true;
  /** Milliseconds in which requests were begun since the event loop last handled what came in. */
  let begun = 0;
  let isCalling = false;
  let isResting = false;
  /** Milliseconds for which queued requests kept the thread, and that nobody has rested for yet. */
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
  /**
   * Requests that are begun now are looked up, packed and written after that: all of it counts, up to the time when the
   * event loop handles what came in.
   */
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
    const may = isResting ? hasUsedLittle : anybody;
    if (!isResting && queues.any()) oweWhatFollows();
    while (begun < SLICE_MS) if (!queues.beginNext(may)) return;
    begun = 0;
    callSoon();
  };

  return (address, work) =>
    new Promise((resolve, refuse) => {
      const account = accounts.accountFor(address);
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
      const isModest = hasUsedLittle(account);
      if (isModest) modest.note(account.address);
      else modest.remove(account.address);
      if (isModest && begun < SLICE_MS && !queues.has(account)) begin();
      else queues.add(account, { begin, refuse });
      // Also where nobody waits: it sets `begun` back to 0.
      if (isModest || !isResting) callSoon();
    });
}
