import type { Store } from '../clickhouse/client.ts';
import {
  type AppliedState,
  appliedState,
  type GapState,
  gapStates,
  type IncompleteState,
  incompleteState,
} from '../clickhouse/queries/index-state.ts';
import { absent, type Figure, figure } from '../schemas/figure.ts';
import { lastDay, timeOf } from './times.ts';

/** How far the index is and what of it is missing: decides which sums of events can be told. */
export interface IndexState {
  applied: AppliedState;
  gaps: readonly GapState[];
  openGaps: readonly GapState[];
  incomplete: IncompleteState;
  /** Block time of the lowest marker: the age of a sum without events. */
  markerTime: string | null;
  /** Why sums of events are absent; null where history is complete. */
  historyReason: string | null;
}

export async function indexState(store: Store): Promise<IndexState> {
  const [applied, gaps, incomplete] = await Promise.all([
    appliedState(store),
    gapStates(store),
    incompleteState(store),
  ]);
  const openGaps = gaps.filter((gap) => isOpen(gap, applied));
  return {
    applied,
    gaps,
    openGaps,
    incomplete,
    markerTime: timeOf(applied.block_time),
    historyReason: historyReason(applied, gaps, openGaps),
  };
}

/** A gap holds until every partition of transactions has applied its closing, its opening included. */
function isOpen(gap: GapState, applied: AppliedState): boolean {
  return gap.open_partitions > 0 || gap.partitions < applied.transaction_partitions;
}

function historyReason(
  applied: AppliedState,
  gaps: readonly GapState[],
  openGaps: readonly GapState[],
): string | null {
  if (gaps.length === 0 && applied.slot === '0') return 'nothing of the chain is indexed yet';
  if (openGaps.length === 0) return null;
  const slots = openGaps.map((gap) => `${gap.from_slot} to ${gap.to_slot}`).slice(0, 5);
  return `history is not complete: the transactions of slots ${slots.join(', ')} are not read yet`;
}

/** Why figures of the last 24 hours are absent; null where they are covered. */
export function dayReason(state: IndexState, now: number): string | null {
  if (state.historyReason === null) return null;
  if (state.openGaps.length === 0) return state.historyReason;
  const { after } = lastDay(now);
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
