import type { RankedRow } from './row.ts';

/** A row with the key that it is ranked by. */
export interface OrderPlace {
  readonly row: RankedRow;
  readonly key: bigint | null;
}

/** Places in ascending order of their keys, those without one last, equal keys by mint. */
export interface AscendingPlaces {
  length: number;
  at(index: number): OrderPlace;
}

/**
 * The places `from` up to `to` in one direction: in both, those without a key come last and equal keys stand by mint.
 */
export function placesOf(
  ascending: AscendingPlaces,
  from: number,
  to: number,
  descending: boolean,
): OrderPlace[] {
  const { length, at } = ascending;
  const end = Math.min(to, length);
  const keyed = descending ? partitionPoint(0, length, (index) => at(index).key !== null) : 0;
  const found: OrderPlace[] = [];
  let next = from;
  while (next < Math.min(end, keyed)) {
    // All places with the key of this one: they stay in ascending order, behind all that are greater.
    const one = keyed - 1 - next;
    const key = at(one).key as bigint;
    const isAt = (index: number) => index >= 0 && index < keyed && at(index).key === key;
    // Mostly there is only this one.
    const low = isAt(one - 1) ? partitionPoint(0, one, (index) => (at(index).key as bigint) < key) : one;
    const high = isAt(one + 1)
      ? partitionPoint(one, keyed, (index) => (at(index).key as bigint) <= key)
      : one + 1;
    const begun = keyed - high;
    for (; next < end && next - begun < high - low; next += 1) found.push(at(low + next - begun));
  }
  for (; next < end; next += 1) found.push(at(next));
  return found;
}

/** Places given in pieces, one behind the other, as one sequence. */
export function ascendingPlaces(pieces: readonly (readonly OrderPlace[])[]): AscendingPlaces {
  const ends: number[] = [];
  for (const piece of pieces) ends.push((ends.at(-1) ?? 0) + piece.length);
  const startOf = (which: number) => (which === 0 ? 0 : (ends[which - 1] as number));
  // Places are asked for in runs: the next is mostly in the same piece.
  let which = 0;
  return {
    length: ends.at(-1) ?? 0,
    at: (index) => {
      if (index < startOf(which) || index >= (ends[which] as number))
        which = partitionPoint(0, ends.length, (at) => (ends[at] as number) <= index);
      return pieces[which]?.[index - startOf(which)] as OrderPlace;
    },
  };
}

/**
 * The first index in `from`..`to` where `holds` is false, by halving: it has to be true for all before, for none after.
 */
export function partitionPoint(from: number, to: number, holds: (index: number) => boolean): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
