import type { RevenueDay } from '../../../../schemas/responses/analytics.ts';

export type DayFigure = Exclude<keyof RevenueDay, 'day' | 'byQuote'>;

/**
 * A figure of a day in a quote asset; null where that day had none. A day without an event of this asset had none only
 * where the whole day is known: its events may be among what is missing.
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
