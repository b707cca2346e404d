import type { View } from '../latest/view.ts';
import type { States } from './states.ts';
import { type AtVenues, atVenues } from './venues.ts';

/** So many states are looked at in 5 ms. */
const STATES_A_PIECE = 10_000;
/** What is kept of a piece is little, whatever it is a piece of. */
const MOST_ENDS = 24;

export interface VenuesAtEnds {
  states: States;
  /** Its account. */
  policy: string;
  /** In hours since 1970, equally far apart. */
  ends: readonly number[];
  view: View;
  /** Of the rows that the states are of, in memory. */
  key: string;
}

/**
 * What a policy had at venues, by the ends at which it is known itself. A policy may have thousands of accounts there: what
 * takes long is made in pieces, with turns of others between them.
 * @returns null where others have their turn first.
 */
export function venuesAtEnds({
  states,
  policy,
  ends,
  view,
  key,
}: VenuesAtEnds): ReadonlyMap<number, AtVenues> | null {
  const at = (end: number): [number, AtVenues][] => {
    const { row } = states.at(policy, end);
    return row === null ? [] : [[end, atVenues(states, row, end)]];
  };
  const accounts = states.venues.length;
  if (accounts * ends.length <= STATES_A_PIECE) return new Map(ends.flatMap(at));
  const size = Math.min(MOST_ENDS, Math.ceil(STATES_A_PIECE / accounts));
  const all = new Map<number, AtVenues>();
  for (let from = 0; from < ends.length; from += size) {
    const own = ends.slice(from, from + size);
    const piece = view.longPart(`venues ${key} ${own[0]} ${own.at(-1)} ${own.length}`, null, () => {
      // It is made of this, which the states were made of before.
      view.get('coinHistory', key);
      return own.flatMap(at);
    });
    if (piece === null) return null;
    for (const [end, venues] of piece) all.set(end, venues);
  }
  return all;
}
