/** Slots that were not streamed: those after `after`, up to and with `to`. */
export interface Hole {
  after: bigint;
  to: bigint;
}

/** All holes there ever were, searched by halves: every state is looked up at every end. */
export interface StreamHoles {
  /** Of the holes that end after a slot, the one that begins first. */
  endingBehind(slot: bigint): Hole | undefined;
  /** Of the holes that lie within `whole`, the one that begins last. */
  lastWithin(whole: Hole): Hole | undefined;
}

export function createStreamHoles(holes: readonly Hole[]): StreamHoles {
  const byBegin = holes.toSorted((a, b) => order(a.after, b.after) || order(a.to, b.to));
  /** For each hole, the last slot that it and those before it reach to. */
  const reaches: bigint[] = [];
  let reach = 0n;
  for (const { to } of byBegin) {
    if (to > reach) reach = to;
    reaches.push(reach);
  }
  return {
    endingBehind: (slot) => byBegin[firstWhere(byBegin.length, (at) => (reaches[at] as bigint) > slot)],
    lastWithin: ({ after, to }) => {
      // The hole begins before `to`. As holes seldom overlap, it is among the last that do.
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

/** The first index at which `isSo` holds, by binary search: it must hold at all later ones too. */
function firstWhere(length: number, isSo: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isSo(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
