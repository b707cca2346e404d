import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { lacks, UNDECODED, UNREADABLE } from '../../schemas/incomplete.ts';
import type { EventKind } from '../../schemas/program/event-kinds.ts';
import { DAY_S, HOUR_MS, HOUR_S, timeOf } from '../../schemas/units.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { View } from '../latest/view.ts';
import { entriesOf } from './by-first.ts';
import { lastDay, nextSecond } from './times.ts';
import { undatedReason } from './undated.ts';

/** Why figures of the last 24 hours are absent; null where they are covered. */
export function dayReason(view: Pick<View, 'now' | 'expireAt' | 'state'>): string | null {
  const state = view.state();
  if (state.historyReason === null) return null;
  if (!state.isSettled || state.openGaps.length === 0) return state.historyReason;
  view.expireAt(nextSecond(view.now));
  const { after } = lastDay(view.now);
  const covered = state.openGaps.every(
    (gap) =>
      gap.open_partitions > 0 &&
      // What a partition lacks is not known before it has applied the opening of the gap.
      gap.partitions >= state.applied.transaction_partitions &&
      gap.to_time !== null &&
      Number(gap.to_time) <= after,
  );
  return covered ? null : `the last 24 hours are not covered: ${state.historyReason}`;
}

/** An amount of a kind of event: `Routed.toLp`. */
export type Amount = `${EventKind}.${string}`;

/** Why a policy's sum of an amount is absent; null where no transaction lacks the amount. */
export function incompleteReason(
  { incomplete }: Pick<IndexState, 'incomplete'>,
  policy: string,
  amount: Amount,
): string | null {
  const missing = entriesOf(incomplete.policies, policy).map(([, what]) => what);
  return lackReason(missing, amount, 'a transaction of this policy');
}

/**
 * Why a policy's sum of the last 24 hours is absent: a transaction that lacks the amount may lie in them; else null.
 */
export function incompleteLately(
  view: Pick<View, 'now' | 'expireAt'> & { state(): Pick<IndexState, 'incomplete'> },
  policy: string,
  amount: Amount,
): string | null {
  const { after } = lastDay(view.now);
  const lately = entriesOf(view.state().incomplete.policies, policy).filter(
    // A newest time ahead of the clock counts too: it may hide older transactions that lie in the 24 hours.
    ([, what, newest]) => lacks([what], amount) && (newest === null || Number(newest) > after),
  );
  for (const [, , newest] of lately) if (newest !== null) view.expireAt((Number(newest) + DAY_S) * 1000);
  return lackReason(
    lately.map(([, what]) => what),
    amount,
    'a transaction of this policy',
  );
}

/** Why sums up to an end are absent for every end later than the beginning of `hour`, in hours since 1970. */
export interface IncompleteFrom {
  hour: number;
  reason: string;
}

/** From when on a policy's sum of an amount is absent, and why, oldest first; empty where no transaction lacks it. */
export function incompleteFrom(
  { incomplete }: Pick<IndexState, 'incomplete'>,
  policy: string,
  amount: Amount,
): IncompleteFrom[] {
  const missing = entriesOf(incomplete.policies, policy).map(([, what, , oldest]) => ({
    what,
    hour: oldest === null ? 0 : Math.floor(Number(oldest) / HOUR_S),
  }));
  return lackFrom(missing, amount, 'a transaction of this policy');
}

/** The same for an amount's sum over all policies: of an incomplete transaction at most the day is known here. */
export function anyIncompleteFrom(
  { incomplete }: Pick<IndexState, 'incomplete'>,
  amount: Amount,
): IncompleteFrom[] {
  const missing = [
    ...incomplete.undated.map((what) => ({ what, hour: 0 })),
    ...incomplete.days.map(([day, what]) => ({ what, hour: Date.parse(day) / HOUR_MS })),
  ];
  return lackFrom(missing, amount, 'a transaction');
}

function lackFrom(
  missing: readonly { what: string; hour: number }[],
  amount: Amount,
  which: string,
): IncompleteFrom[] {
  const first = new Map<string, number>();
  for (const { what, hour } of missing)
    if (lacks([what], amount)) first.set(what, Math.min(hour, first.get(what) ?? hour));
  const found = [...first].toSorted(([, one], [, other]) => one - other);
  return found.flatMap(([, hour], at) => {
    const lacking = found.slice(0, at + 1).map(([what]) => what);
    const reason = lackReason(lacking, amount, which);
    return reason === null ? [] : [{ hour, reason }];
  });
}

/** Why an amount's sum of this UTC day (YYYY-MM-DD) is absent; null where no transaction of it lacks the amount. */
export function dayIncompleteReason(state: IndexState, day: string, amount: Amount): string | null {
  const { days, undated, undatedEvents } = state.incomplete;
  const missing = entriesOf(days, day).map(([, what]) => what);
  return (
    lackReason(undated, amount, 'a transaction of a day that is not known') ??
    lackReason(missing, amount, 'a transaction of this day') ??
    undatedReason(undatedEvents, amount.slice(0, amount.indexOf('.')), day)
  );
}

function lackReason(missing: readonly string[], amount: Amount, which: string): string | null {
  if (!lacks(missing, amount)) return null;
  if (missing.includes(UNREADABLE)) return `${which} cannot be read`;
  return missing.includes(UNDECODED)
    ? `an event of ${which} does not decode`
    : `the logs of ${which} were cut, and the transaction itself does not tell this amount`;
}

/**
 * A sum of events, absent where `reason` says why. A sum of no events is as old as the marker.
 * @param lastTime unix seconds of the newest event summed; null without events, or where no event's time is known.
 */
export function eventSum(
  state: Pick<IndexState, 'markerTime'>,
  reason: string | null,
  value: string | number,
  source: string,
  lastTime: string | null,
): Figure {
  if (reason !== null) return absent(source, reason);
  return figure(value, source, isOfNothing(value, lastTime) ? state.markerTime : timeOf(lastTime));
}

export const isOfNothing = (value: string | number, lastTime: string | null): boolean =>
  lastTime === null && String(value) === '0';
