import type { UndatedEvent } from '../../clickhouse/queries/analytics/undated.ts';
import { DAY_S } from '../../schemas/units.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { View } from '../latest/view.ts';
import { lastDay, nextSecond } from './times.ts';

const DAY = BigInt(DAY_S);

/** The UTC day of an event, YYYY-MM-DD, where both bounds of its time are of one day; null where they are not. */
export function dayBetween({ earliest, latest }: UndatedEvent): string | null {
  if (earliest === null || latest === null) return null;
  const day = BigInt(earliest) / DAY;
  return BigInt(latest) / DAY === day ? new Date(Number(day * DAY) * 1000).toISOString().slice(0, 10) : null;
}

/** Whether it is unknown if the sum of its day holds the event: its time came just now, or is no longer known. */
export const isUnsettled = ({ block_time, summed }: UndatedEvent): boolean =>
  (block_time === null) === (summed === 1);

/** Why figures of a UTC day are absent: an event of this kind may be of it or of another day; null where none may. */
export function undatedReason(events: readonly UndatedEvent[], kind: string, day: string): string | null {
  const start = Date.parse(`${day}T00:00:00Z`) / 1000;
  const one = events.find(
    (event) =>
      event.kind === kind &&
      (isUnsettled(event) || dayBetween(event) === null) &&
      mayLie(event, start - 1, start + Number(DAY_S) - 1),
  );
  if (one === undefined) return null;
  return one.block_time === null
    ? 'the block time of an event that may be of this day is not known'
    : 'the block time of an event of this day was told just now: it is not summed up yet';
}

/** Why figures of the last 24 hours are absent: an event may lie in them; null where none may. */
export function undatedLately(
  view: Pick<View, 'now' | 'expireAt'> & { state(): Pick<IndexState, 'incomplete'> },
  concerns: (event: UndatedEvent) => boolean,
): string | null {
  const events = view.state().incomplete.undatedEvents.filter(concerns);
  if (events.length === 0) return null;
  view.expireAt(nextSecond(view.now));
  const { after, until } = lastDay(view.now);
  return events.some((event) => mayLie(event, after, until))
    ? 'the block time of an event that may be of the last 24 hours is not known'
    : null;
}

/** Mints with undated events that may or may not lie in the last 24 hours, sorted. */
export function undatedMints(view: Pick<View, 'now' | 'expireAt' | 'state'>): string[] {
  const mints = new Set(view.state().incomplete.undatedEvents.map(({ mint }) => mint));
  return [...mints].filter((mint) => undatedLately(view, (event) => event.mint === mint) !== null).sort();
}

/** Whether the time of an event may lie in (after, until], in unix seconds. */
function mayLie({ earliest, latest }: UndatedEvent, after: number, until: number): boolean {
  return (latest === null || Number(latest) > after) && (earliest === null || Number(earliest) <= until);
}
