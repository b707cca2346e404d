import { type Account, createAccounts } from './accounts.ts';
import { createLines } from './lines.ts';

export interface ReadGateOptions {
  /** Reads under way side by side. */
  atOnce: number;
  /** Reads that wait for their turn, of all clients together. */
  most?: number;
  waitMs?: number;
  /** Milliseconds that only go forward. */
  now?(): number;
}

/** Runs work once there is room for it. @throws BusyError */
export type ReadGate = <T>(address: string, work: () => Promise<T>) => Promise<T>;

const MOST = 512;
const WAIT_MS = 5_000;
/** What one may have of the places while others are about, and while nobody is: who comes then finds room. */
const BESIDE_OTHERS = 1 / 4;
const ALONE = 3 / 4;

/**
 * Reads wait in a line for each client, and whoever has kept the store busy least is next. Nobody has more than a part of
 * the places: behind what is under way already everybody waits.
 */
export function createReadGate(options: ReadGateOptions): ReadGate {
  const { atOnce, most = MOST, waitMs = WAIT_MS, now = () => performance.now() } = options;
  const accounts = createAccounts(now);
  const lines = createLines(accounts, most, waitMs);
  const underWay = new Map<Account, number>();
  let all = 0;

  const placesOf = (part: number) => Math.max(1, Math.floor(atOnce * part));
  const mayBegin = (account: Account): boolean => {
    const part = accounts.isOtherAbout(account) ? BESIDE_OTHERS : ALONE;
    return all < atOnce && (underWay.get(account) ?? 0) < placesOf(part);
  };
  const begin = (account: Account) => {
    all += 1;
    underWay.set(account, (underWay.get(account) ?? 0) + 1);
  };
  const end = (account: Account) => {
    all -= 1;
    const left = (underWay.get(account) ?? 0) - 1;
    if (left > 0) underWay.set(account, left);
    else underWay.delete(account);
    while (lines.call(mayBegin));
  };
  const turn = (account: Account): Promise<void> =>
    new Promise((resolve, refuse) => {
      const itsTurn = () => {
        begin(account);
        resolve();
      };
      if (mayBegin(account) && !lines.has(account)) itsTurn();
      else lines.add(account, { begin: itsTurn, refuse });
    });

  return async (address, work) => {
    const account = accounts.of(address);
    await turn(account);
    const startedAt = now();
    try {
      return await work();
    } finally {
      accounts.charge(account, now() - startedAt);
      end(account);
    }
  };
}
