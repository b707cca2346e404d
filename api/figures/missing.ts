import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { timeOf } from '../../schemas/units.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { View } from '../latest/view.ts';
import { lastDay, nextSecond } from './times.ts';

/** Why figures of the last 24 hours are absent; null where they are covered. */
export function dayReason(view: Pick<View, 'now' | 'until' | 'state'>): string | null {
  const state = view.state();
  if (state.historyReason === null) return null;
  if (state.openGaps.length === 0) return state.historyReason;
  view.until(nextSecond(view.now));
  const { after } = lastDay(view.now);
  const covered = state.openGaps.every(
    (gap) => gap.open_partitions > 0 && gap.to_time !== null && Number(gap.to_time) <= after,
  );
  return covered ? null : `the last 24 hours are not covered: ${state.historyReason}`;
}

/** Why the event sums of this policy are absent; null where its transactions are whole. */
export function incompleteReason(state: IndexState, policy: string): string | null {
  return state.incomplete.policies.includes(policy)
    ? 'a transaction of this policy is incomplete: its logs were cut and an event is missing'
    : null;
}

/** Why the figures of this UTC day (YYYY-MM-DD) are absent; null where its transactions are whole. */
export function dayIncompleteReason(state: IndexState, day: string): string | null {
  const { days, undated } = state.incomplete;
  if (undated > 0) return 'a transaction of a day that is not known is incomplete: an event is missing';
  return days.includes(day) ? 'a transaction of this day is incomplete: an event is missing' : null;
}

/**
 * A sum of events, absent where `reason` says why.
 * @param lastTime unix seconds of the newest event summed; null where there is none.
 */
export function eventSum(
  state: IndexState,
  reason: string | null,
  value: string | number,
  source: string,
  lastTime: string | null,
): Figure {
  if (reason !== null) return absent(source, reason);
  return figure(value, source, lastTime === null ? state.markerTime : timeOf(lastTime));
}
