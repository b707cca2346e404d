import { BusyError } from '../../../runtime/errors.ts';
import type { Account, Accounts } from './accounts.ts';

/** A request that waits for its turn. */
export interface Waiting {
  begin(): void;
  refuse(error: BusyError): void;
}

/** A queue for each account. */
export interface ClientQueues {
  /** @throws BusyError where there is no place */
  add(account: Account, one: Waiting): void;
  /** Whether a request of this account waits. */
  has(account: Account): boolean;
  /** Whether any request waits. */
  any(): boolean;
  /**
   * Begins the first in the queue of that account which has used least of those that `may`; false where there is none.
   */
  beginNext(may: (account: Account) => boolean): boolean;
}

interface Queue {
  account: Account;
  waiting: { one: Waiting; since: number }[];
}

/**
 * Where all places to wait are taken, the longest queue gives one up.
 * @param waitMs how long a request may wait before it is refused
 * @param now milliseconds that only go forward
 */
export function createClientQueues(
  accounts: Pick<Accounts, 'usedMs'>,
  most: number,
  waitMs: number,
  now = () => performance.now(),
): ClientQueues {
  let places = 0;
  const queueOf = new WeakMap<Account, Queue>();
  /** Those that are not empty; of accounts that have used the same, the first is next. */
  const queues: Queue[] = [];
  let isLooking = false;
  const tooMany = () => new BusyError('too many requests are waiting');

  function queueFor(account: Account): Queue {
    const known = queueOf.get(account) ?? { account, waiting: [] };
    queueOf.set(account, known);
    return known;
  }

  function leave(queue: Queue, at: number): Waiting | undefined {
    const [left] = queue.waiting.splice(at, 1);
    if (left === undefined) return undefined;
    places -= 1;
    if (queue.waiting.length === 0) queues.splice(queues.indexOf(queue), 1);
    return left.one;
  }

  function makeRoom(own: Queue): void {
    if (places < most) return;
    let longest = own;
    let length = own.waiting.length + 1;
    for (const other of queues)
      if (other.waiting.length > length) [longest, length] = [other, other.waiting.length];
    if (longest === own) throw tooMany();
    leave(longest, length - 1)?.refuse(tooMany());
  }

  /** Refuses those that have waited for too long. One timer for all: most wait for less than a millisecond. */
  function lookForLate(ms: number): void {
    if (isLooking) return;
    isLooking = true;
    setTimeout(() => {
      isLooking = false;
      const since = now() - waitMs;
      let first = Number.POSITIVE_INFINITY;
      for (const queue of [...queues]) {
        while (queue.waiting[0] !== undefined && queue.waiting[0].since <= since)
          leave(queue, 0)?.refuse(tooMany());
        first = Math.min(first, queue.waiting[0]?.since ?? first);
      }
      if (places > 0) lookForLate(first - since);
    }, ms).unref();
  }

  function leastUsed(may: (account: Account) => boolean): Queue | null {
    let least: Queue | null = null;
    let leastUsed = Number.POSITIVE_INFINITY;
    for (const queue of queues) {
      const used = accounts.usedMs(queue.account);
      if (used < leastUsed && may(queue.account)) [least, leastUsed] = [queue, used];
    }
    return least;
  }

  return {
    has: (account) => (queueOf.get(account)?.waiting.length ?? 0) > 0,
    any: () => places > 0,
    add: (account, one) => {
      const queue = queueFor(account);
      makeRoom(queue);
      if (queue.waiting.length === 0) queues.push(queue);
      queue.waiting.push({ one, since: now() });
      places += 1;
      lookForLate(waitMs);
    },
    beginNext: (may) => {
      const queue = leastUsed(may);
      const one = queue === null ? undefined : leave(queue, 0);
      if (queue === null || one === undefined) return false;
      // Of accounts that have used the same, another is next.
      if (queue.waiting.length > 0) queues.push(...queues.splice(queues.indexOf(queue), 1));
      one.begin();
      return true;
    },
  };
}
