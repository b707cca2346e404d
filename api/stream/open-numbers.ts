/** Longer than a writer may be open: its server ends a transaction that waits, and a statement, after 10 s. */
const OPEN_MS = 60_000;
/** More than write at once; of a sequence that jumps, as after a crash, nobody takes the numbers in between. */
const MOST_OPEN = 1_000;

/** Numbers that no post had when a higher one was seen: their writers may still commit, or never. */
export interface OpenNumbers {
  /** The lowest of them; null where there is none. */
  lowest(): bigint | null;
  upTo(most: bigint): bigint[];
  /** Beyond a thousand the oldest are forgotten. */
  note(numbers: readonly bigint[]): void;
  /** Forgets those that posts have now, and those that were open for a minute when they were looked for. */
  settle(taken: readonly bigint[], lookedAt: number): void;
  clear(): void;
}

export function createOpenNumbers(clock: () => number): OpenNumbers {
  const until = new Map<bigint, number>();
  return {
    lowest: () =>
      [...until.keys()].reduce<bigint | null>((low, n) => (low === null || n < low ? n : low), null),
    upTo: (most) => [...until.keys()].filter((number) => number <= most),
    note: (numbers) => {
      for (const number of numbers) until.set(number, clock() + OPEN_MS);
      for (const oldest of until.keys()) {
        if (until.size <= MOST_OPEN) break;
        until.delete(oldest);
      }
    },
    settle: (taken, lookedAt) => {
      for (const number of taken) until.delete(number);
      for (const [number, over] of until) if (over <= lookedAt) until.delete(number);
    },
    clear: () => until.clear(),
  };
}

/** The numbers above `from`, up to the highest of a list, that it lacks; the highest thousand of them. */
export function lackedBy(numbers: readonly bigint[], from: bigint): bigint[] {
  const has = new Set(numbers);
  const lacked: bigint[] = [];
  for (let at = numbers.at(-1) ?? from; at > from && lacked.length < MOST_OPEN; at -= 1n)
    if (!has.has(at)) lacked.push(at);
  return lacked.reverse();
}
