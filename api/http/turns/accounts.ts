import { createLru } from '../../../runtime/lru.ts';

/** How much a client has used recently of something that all share. */
export interface Account {
  /** STRANGERS for the account that strangers have together. */
  address: string;
  /** Milliseconds, as of `at`. */
  usedMs: number;
  at: number;
}

/** Equals no address. */
const STRANGERS = '';

export interface Accounts {
  /** The account that the next request of an address is charged to. */
  accountFor(address: string): Account;
  charge(account: Account, ms: number): void;
  /** The milliseconds it has used, halved with each second that went by since. */
  usedMs(account: Account): number;
  /** Whether a client of another account asked recently. */
  isOtherActive(account: Account): boolean;
}

const HALVED_IN_MS = 1_000;
const ABOUT_MS = 5_000;
/** With more, the addresses that were not heard of for longest are strangers again. */
const MOST_KNOWN = 20_000;

/**
 * One account for each address; strangers have one together until their second request: a client that comes from a new
 * address each time gains nothing by it, and takes nothing from those that were here before.
 * @param now milliseconds that only go forward
 */
export function createAccounts(now: () => number): Accounts {
  const open = (address: string): Account => ({ address, usedMs: 0, at: now() });
  const strangers = open(STRANGERS);
  const known = createLru<Account>(MOST_KNOWN);
  /**
   * The account that is, or will be, that of the last address that asked; `other`: of the last different one before it.
   */
  let last = { own: strangers, at: Number.NEGATIVE_INFINITY };
  let other = last;

  const usedNow = (account: Account, at = now()) =>
    account.usedMs * 0.5 ** ((at - account.at) / HALVED_IN_MS);
  return {
    usedMs: (account) => usedNow(account),
    accountFor: (address) => {
      const account = known.get(address);
      const own = account ?? open(address);
      if (account === undefined) known.set(address, own);
      if (own !== last.own) other = last;
      last = { own, at: now() };
      return account ?? strangers;
    },
    charge: (account, ms) => {
      const at = now();
      account.usedMs = usedNow(account, at) + ms;
      account.at = at;
    },
    isOtherActive: (account) => {
      const { at } = last.own === account ? other : last;
      return now() - at <= ABOUT_MS;
    },
  };
}
