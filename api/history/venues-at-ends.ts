import type { View } from '../latest/view.ts';
import type { States } from './states.ts';
import { type AtVenues, atVenues } from './venues.ts';

/** So many states are looked at in 5 ms. */
const STATES_A_PIECE = 10_000;
/** Ends of a piece at most, so that what is kept of one is little. */
const MOST_ENDS = 24;

export interface VenuesAtEnds {
  states: States;
  /** Address of its account. */
  policy: string;
  /** In hours since 1970, equally far apart. */
  ends: readonly number[];
  view: View;
  /** The key in memory of the rows that `states` is made of. */
  key: string;
}

/**
 * What a policy had at venues, by the ends at which the policy itself is known. It may have thousands of accounts
 * there, so what takes long is made in pieces, with turns of other requests between them.
 * @returns null where other requests have their turn first: the answer is made again then.
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
      // Tells the view that this piece depends on these rows, which `states` was made of before.
      view.get('coinHistory', key);
      return own.flatMap(at);
    });
    if (piece === null) return null;
    for (const [end, venues] of piece) all.set(end, venues);
  }
  return all;
}
