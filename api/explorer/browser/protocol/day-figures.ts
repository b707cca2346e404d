import type { RevenueDay } from '../../../../schemas/responses/analytics.ts';

export type DayFigure = Exclude<keyof RevenueDay, 'day' | 'byQuote'>;

/**
 * What a day had of a quote asset; null where it had nothing. A day without an event of this asset had nothing only
 * where all of the day is known: its events may be among what is missing.
 */
export function figureOfDay(
  day: RevenueDay,
  quoteMint: string,
  name: DayFigure,
): RevenueDay[DayFigure] | null {
  const own = day.byQuote.find((entry) => entry.quoteMint === quoteMint);
  if (own !== undefined) return own[name];
  return day[name].absent ? day[name] : null;
}
