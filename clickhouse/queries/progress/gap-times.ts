import { HOUR_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import type { GapState } from './index-state.ts';

const isUntimed = ({ open_partitions, to_time }: GapState): boolean =>
  open_partitions > 0 && to_time === null;

/**
 * The gaps, each open one whose end has no time with an upper bound of it: the end of the first hour that is known to
 * have begun behind all such ends. The time itself may never be known, and a gap may be years old.
 */
export async function withTimes(store: Store, gaps: readonly GapState[]): Promise<readonly GapState[]> {
  const ends = gaps.filter(isUntimed).map(({ to_slot }) => BigInt(to_slot));
  const [last] = ends.sort((one, other) => (one < other ? 1 : -1));
  if (last === undefined) return gaps;
  const [row] = await store.query<{ hour: number | null }>(
    'SELECT minOrNull(hour) AS hour FROM hour_slots WHERE slot >= {last:UInt64}',
    { last },
  );
  const hour = row?.hour ?? null;
  if (hour === null) return gaps;
  const to_time = String((hour + 1) * HOUR_S);
  return gaps.map((gap) => (isUntimed(gap) ? { ...gap, to_time } : gap));
}
