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

interface Line {
  account: Account;
  waiting: { one: Waiting; since: number }[];
}

/**
 * Where all places to wait are taken, the longest line gives one up.
 * @param waitMs nobody waits for longer
 * @param now milliseconds that only go forward
 */
export function createLines(
  accounts: Pick<Accounts, 'had'>,
  most: number,
  waitMs: number,
  now = () => performance.now(),
): Lines {
  let places = 0;
  const lineOf = new WeakMap<Account, Line>();
  /** Those in which somebody waits; of those that have had the same the first is next. */
  const lines: Line[] = [];
  let isLooking = false;
  const tooMany = () => new BusyError('too many reads wait');

  function lineFor(account: Account): Line {
    const known = lineOf.get(account) ?? { account, waiting: [] };
    lineOf.set(account, known);
    return known;
  }

  function leave(line: Line, at: number): Waiting | undefined {
    const [left] = line.waiting.splice(at, 1);
    if (left === undefined) return undefined;
    places -= 1;
    if (line.waiting.length === 0) lines.splice(lines.indexOf(line), 1);
    return left.one;
  }

  function makeRoom(own: Line): void {
    if (places < most) return;
    let longest = own;
    let length = own.waiting.length + 1;
    for (const other of lines)
      if (other.waiting.length > length) [longest, length] = [other, other.waiting.length];
    if (longest === own) throw tooMany();
    leave(longest, length - 1)?.refuse(tooMany());
  }

  /** One timer for all: most who wait do so for less than a millisecond. */
  function lookForLate(ms: number): void {
    if (isLooking) return;
    isLooking = true;
    setTimeout(() => {
      isLooking = false;
      const since = now() - waitMs;
      let first = Number.POSITIVE_INFINITY;
      for (const line of [...lines]) {
        while (line.waiting[0] !== undefined && line.waiting[0].since <= since)
          leave(line, 0)?.refuse(tooMany());
        first = Math.min(first, line.waiting[0]?.since ?? first);
      }
      if (places > 0) lookForLate(first - since);
    }, ms).unref();
  }

  function leastHad(may: (account: Account) => boolean): Line | null {
    let least: Line | null = null;
    let leastHad = Number.POSITIVE_INFINITY;
    for (const line of lines) {
      const had = accounts.had(line.account);
      if (had < leastHad && may(line.account)) [least, leastHad] = [line, had];
    }
    return least;
  }

  return {
    has: (account) => (lineOf.get(account)?.waiting.length ?? 0) > 0,
    any: () => places > 0,
    add: (account, one) => {
      const line = lineFor(account);
      makeRoom(line);
      if (line.waiting.length === 0) lines.push(line);
      line.waiting.push({ one, since: now() });
      places += 1;
      lookForLate(waitMs);
    },
    call: (may) => {
      const line = leastHad(may);
      const one = line === null ? undefined : leave(line, 0);
      if (line === null || one === undefined) return false;
      // Of those that have had the same another is next.
      if (line.waiting.length > 0) lines.push(...lines.splice(lines.indexOf(line), 1));
      one.begin();
      return true;
    },
  };
}
