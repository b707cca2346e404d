import type { RankedRow } from './row.ts';

/** A row with the key that it stands by. */
export interface OrderPlace {
  readonly row: RankedRow;
  readonly key: bigint | null;
}

/** Places in rising order of their keys, those without one last, equal keys by mint. */
export interface Rising {
  length: number;
  at(index: number): OrderPlace;
}

/** Some of the places in either direction: those without a key come last in both, equal keys stand by mint in both. */
export function placesOf(rising: Rising, from: number, to: number, descending: boolean): OrderPlace[] {
  const { length, at } = rising;
  const end = Math.min(to, length);
  const keyed = descending ? firstNot(0, length, (index) => at(index).key !== null) : 0;
  const found: OrderPlace[] = [];
  let next = from;
  while (next < Math.min(end, keyed)) {
    // The equal keys among which this one stands: they come as they are, behind all that are greater.
    const one = keyed - 1 - next;
    const key = at(one).key as bigint;
    const isAt = (index: number) => index >= 0 && index < keyed && at(index).key === key;
    // Mostly there is no other.
    const low = isAt(one - 1) ? firstNot(0, one, (index) => (at(index).key as bigint) < key) : one;
    const high = isAt(one + 1) ? firstNot(one, keyed, (index) => (at(index).key as bigint) <= key) : one + 1;
    const begun = keyed - high;
    for (; next < end && next - begun < high - low; next += 1) found.push(at(low + next - begun));
  }
  for (; next < end; next += 1) found.push(at(next));
  return found;
}

/** Places that stand in pieces, one behind the other. */
export function risingOf(pieces: readonly (readonly OrderPlace[])[]): Rising {
  const ends: number[] = [];
  for (const piece of pieces) ends.push((ends.at(-1) ?? 0) + piece.length);
  const startOf = (which: number) => (which === 0 ? 0 : (ends[which - 1] as number));
  // Whoever asks for one asks for its neighbours.
  let which = 0;
  return {
    length: ends.at(-1) ?? 0,
    at: (index) => {
      if (index < startOf(which) || index >= (ends[which] as number))
        which = firstNot(0, ends.length, (at) => (ends[at] as number) <= index);
      return pieces[which]?.[index - startOf(which)] as OrderPlace;
    },
  };
}

/** The first number from one up to another of which this does not hold, which holds of those before it alone. */
export function firstNot(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
