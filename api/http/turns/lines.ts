import { BusyError } from '../../../runtime/errors.ts';
import type { Account, Accounts } from './accounts.ts';

/** Who waits for his turn. */
export interface Waiting {
  begin(): void;
  refuse(error: BusyError): void;
}

/** A line for each account. */
export interface Lines {
  /** @throws BusyError where there is no place */
  add(account: Account, one: Waiting): void;
  /** Whether somebody of this account waits. */
  has(account: Account): boolean;
  /** Whether anybody waits. */
  any(): boolean;
  /** Calls the first in line of the account that has had least, of those that may; false where there is none. */
  call(may: (account: Account) => boolean): boolean;
}

/** Where all places to wait are taken, the longest line gives one up. @param waitMs nobody waits for longer */
export function createLines(accounts: Pick<Accounts, 'had'>, most: number, waitMs: number): Lines {
  let waiting = 0;
  const lines = new Map<Account, Waiting[]>();
  const tooMany = () => new BusyError('too many reads wait');

  function leave(account: Account, one: Waiting): boolean {
    const line = lines.get(account) ?? [];
    const at = line.indexOf(one);
    if (at < 0) return false;
    line.splice(at, 1);
    waiting -= 1;
    if (line.length === 0) lines.delete(account);
    return true;
  }

  function makeRoom(account: Account): void {
    if (waiting < most) return;
    let longest = account;
    let length = (lines.get(account)?.length ?? 0) + 1;
    for (const [other, line] of lines) if (line.length > length) [longest, length] = [other, line.length];
    const last = longest === account ? undefined : lines.get(longest)?.at(-1);
    if (last === undefined) throw tooMany();
    leave(longest, last);
    last.refuse(tooMany());
  }

  function leastHad(may: (account: Account) => boolean): Account | null {
    let least: Account | null = null;
    let leastHad = Number.POSITIVE_INFINITY;
    for (const account of lines.keys()) {
      const had = accounts.had(account);
      if (had < leastHad && may(account)) [least, leastHad] = [account, had];
    }
    return least;
  }

  return {
    has: (account) => lines.has(account),
    any: () => waiting > 0,
    add: (account, { begin, refuse }) => {
      makeRoom(account);
      const late = setTimeout(() => {
        if (leave(account, one)) refuse(tooMany());
      }, waitMs);
      const one: Waiting = {
        begin: () => {
          clearTimeout(late);
          begin();
        },
        refuse: (error) => {
          clearTimeout(late);
          refuse(error);
        },
      };
      const line = lines.get(account);
      if (line === undefined) lines.set(account, [one]);
      else line.push(one);
      waiting += 1;
    },
    call: (may) => {
      const account = leastHad(may);
      const line = account === null ? undefined : lines.get(account);
      const one = line?.[0];
      if (account === null || line === undefined || one === undefined) return false;
      leave(account, one);
      // Of those that have had the same another is next.
      if (lines.delete(account)) lines.set(account, line);
      one.begin();
      return true;
    },
  };
}
