/** Slots that were not streamed: behind `after`, up to `to`. */
export interface Hole {
  after: bigint;
  to: bigint;
}

/** The holes that there ever were: each state is asked about at each end, and nobody looks at all of them for it. */
export interface StreamHoles {
  /** By where they begin, the first that ends behind a slot: no other that does begins before it. */
  endingBehind(slot: bigint): Hole | undefined;
  /** By where they begin, the last of those that lie within one. */
  lastWithin(whole: Hole): Hole | undefined;
}

export function createStreamHoles(holes: readonly Hole[]): StreamHoles {
  const byBegin = holes.toSorted((a, b) => order(a.after, b.after) || order(a.to, b.to));
  /** Of each, how far it and those before it reach. */
  const reaches: bigint[] = [];
  let reach = 0n;
  for (const { to } of byBegin) {
    if (to > reach) reach = to;
    reaches.push(reach);
  }
  return {
    endingBehind: (slot) => byBegin[firstWhere(byBegin.length, (at) => (reaches[at] as bigint) > slot)],
    lastWithin: ({ after, to }) => {
      // It begins before the whole ends. Holes seldom overlap: one of the last that do is it.
      let at = firstWhere(byBegin.length, (one) => (byBegin[one] as Hole).after >= to) - 1;
      for (let hole = byBegin[at]; hole !== undefined && hole.after >= after; hole = byBegin[at]) {
        if (hole.to <= to) return hole;
        at -= 1;
      }
      return undefined;
    },
  };
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** The first place at which it is so; it is so at all behind it. */
function firstWhere(length: number, isSo: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
