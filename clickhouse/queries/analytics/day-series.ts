import type { Store } from '../../client.ts';
import { addedUp, noSums, QUOTE_SUMS, type QuoteSums } from '../../sum-columns.ts';

/** Sums of one UTC day and quote asset over all partitions of the log. `quote_mint` '' : events of no policy. */
export type QuoteDayRow = QuoteSums & { day: string; quote_mint: string };

export const NO_DAY_SUMS: QuoteSums = noSums(QUOTE_SUMS);

/** Oldest day first, then by quote mint. */
export async function daySeries(store: Store): Promise<QuoteDayRow[]> {
  return store.query<QuoteDayRow>(
    `SELECT toString(t.day) AS day, t.quote_mint AS quote_mint, ${addedUp(QUOTE_SUMS)}
     FROM quote_days AS t FINAL
     GROUP BY t.day, t.quote_mint
     HAVING sum(t.event_count) > 0
     ORDER BY day, quote_mint`,
    {},
  );
}
