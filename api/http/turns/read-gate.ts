import { type Account, createAccounts } from './accounts.ts';
import { createClientQueues } from './client-queues.ts';
import { createModestClients, type ModestClients } from './modest-clients.ts';

export interface ReadGateOptions {
  /** Reads under way side by side. */
  atOnce: number;
  /** Reads that wait for their turn, of all clients together. */
  most?: number;
  waitMs?: number;
  /** Knows of more clients than this gate: most are answered without asking the store. */
  others?: Pick<ModestClients, 'anyRecent'>;
  /** Calls back after so many milliseconds. */
  after?(call: () => void, ms: number): void;
  /** Milliseconds that only go forward. */
  now?(): number;
}

/** Runs work once there is room for it. @throws BusyError */
export type ReadGate = <T>(address: string, work: () => Promise<T>) => Promise<T>;

const MOST = 512;
const WAIT_MS = 5_000;
/**
 * What one client may have of the places while others ask, too, and (ALONE) while none do: a newcomer then finds room.
 */
const BESIDE_OTHERS = 1 / 4;
const ALONE = 3 / 4;
/** What all clients that have used much may have of the places together while a modest client is about. */
const GREEDY = 1 / 6;
/** Up to here a client has used little, of what halves with each second: less than by one read after the other. */
const LITTLE_MS = 1_000;
/**
 * Their places then rest for as long as they were used, at most for this long: meanwhile the store's cores are free for
 * those that write to it and for other reads.
 */
const MOST_REST_MS = 500;
const NOBODY: Pick<ModestClients, 'anyRecent'> = { anyRecent: () => false };

/**
 * Reads wait in a queue for each client, and the client that has kept the store busy least is next. No client has more
 * than a part of the places, and those that have used much share a smaller part while a modest client is about: nobody
 * can go before what is under way already.
 */
export function createReadGate(options: ReadGateOptions): ReadGate {
  const { atOnce, most = MOST, waitMs = WAIT_MS, others = NOBODY } = options;
  const { now = () => performance.now(), after = (call, ms) => void setTimeout(call, ms) } = options;
  const accounts = createAccounts(now);
  const queues = createClientQueues(accounts, most, waitMs);
  const own = createModestClients(now);
  const underWay = new Map<Account, number>();
  let all = 0;
  /** Reads under way whose client had used much when they began, and places that rest after such reads. */
  let greedy = 0;

  const isModestAbout = ({ address }: Account) => own.anyRecent(address) || others.anyRecent(address);
  const hasUsedLittle = (account: Account) => accounts.usedMs(account) <= LITTLE_MS;
  const placesOf = (part: number) => Math.max(1, Math.floor(atOnce * part));
  const mayBegin = (account: Account): boolean => {
    const part = accounts.isOtherActive(account) ? BESIDE_OTHERS : ALONE;
    if (all >= atOnce || (underWay.get(account) ?? 0) >= placesOf(part)) return false;
    return hasUsedLittle(account) || !isModestAbout(account) || greedy < placesOf(GREEDY);
  };
  /** Begins a read. What it gives ends the read, and begins those that may then begin. */
  const begin = (account: Account): (() => void) => {
    const isGreedy = !hasUsedLittle(account);
    const begunAt = now();
    all += 1;
    if (isGreedy) greedy += 1;
    underWay.set(account, (underWay.get(account) ?? 0) + 1);
    return () => {
      if (isGreedy && isModestAbout(account)) after(leave, Math.min(now() - begunAt, MOST_REST_MS));
      else if (isGreedy) greedy -= 1;
      end(account);
    };
  };
  const leave = () => {
    greedy -= 1;
    callAll();
  };
  const callAll = () => {
    while (queues.beginNext(mayBegin));
  };
  const end = (account: Account) => {
    all -= 1;
    const left = (underWay.get(account) ?? 0) - 1;
    if (left > 0) underWay.set(account, left);
    else underWay.delete(account);
    callAll();
  };
  const turn = (account: Account): Promise<() => void> =>
    new Promise((resolve, refuse) => {
      const itsTurn = () => resolve(begin(account));
      if (hasUsedLittle(account)) own.note(account.address);
      else own.remove(account.address);
      if (mayBegin(account) && !queues.has(account)) itsTurn();
      else queues.add(account, { begin: itsTurn, refuse });
    });

  return async (address, work) => {
    const account = accounts.accountFor(address);
    const over = await turn(account);
    const startedAt = now();
    try {
      return await work();
    } finally {
      accounts.charge(account, now() - startedAt);
      over();
    }
  };
}
