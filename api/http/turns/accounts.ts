import { createLru } from '../../../runtime/lru.ts';

/** What a client has had of late of something that all share. */
export interface Account {
  /** STRANGERS of those that have one together. */
  address: string;
  /** Milliseconds, as of `at`. */
  had: number;
  at: number;
}

/** None that an address could be. */
const STRANGERS = '';

export interface Accounts {
  /** Whose account the next request of an address is. */
  of(address: string): Account;
  charge(account: Account, ms: number): void;
  /** What it has had, halved with each second that went by since. */
  had(account: Account): number;
  /** Whether another than this one asked of late. */
  isOtherAbout(account: Account): boolean;
}

const HALVED_IN_MS = 1_000;
const ABOUT_MS = 5_000;
/** The ones that were not heard of for longest are strangers again. */
const MOST_KNOWN = 20_000;

/**
 * One account for each address; strangers together have one until their second request: who comes from a new address
 * each time gains nothing by it, and takes nothing from those who were here before.
 * @param now milliseconds that only go forward
 */
export function createAccounts(now: () => number): Accounts {
  const open = (address: string): Account => ({ address, had: 0, at: now() });
  const strangers = open(STRANGERS);
  const known = createLru<Account>(MOST_KNOWN);
  /** Of the last who asked, and of the last before that who was another, what is or will be his own. */
  let last = { own: strangers, at: Number.NEGATIVE_INFINITY };
  let other = last;

  const had = (account: Account, at = now()) => account.had * 0.5 ** ((at - account.at) / HALVED_IN_MS);
  return {
    had: (account) => had(account),
    of: (address) => {
      const account = known.get(address);
      const own = account ?? open(address);
      if (account === undefined) known.set(address, own);
      if (own !== last.own) other = last;
      last = { own, at: now() };
      return account ?? strangers;
    },
    charge: (account, ms) => {
      const at = now();
      account.had = had(account, at) + ms;
      account.at = at;
    },
    isOtherAbout: (account) => {
      const { at } = last.own === account ? other : last;
      return now() - at <= ABOUT_MS;
    },
  };
}
