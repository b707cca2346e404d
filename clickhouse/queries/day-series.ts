import type { Store } from '../client.ts';

/** Sums of one UTC day and quote asset over all partitions of the log. `quote_mint` '' : events of no policy. */
export interface QuoteDayRow {
  day: string;
  quote_mint: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  protocol_cut: string;
  profit: string;
  buyback_spent: string;
  last_event: string | null;
}

/** Oldest day first, then by quote mint. */
export async function daySeries(store: Store): Promise<QuoteDayRow[]> {
  return store.query<QuoteDayRow>(
    `SELECT toString(d.day) AS day, d.quote_mint AS quote_mint,
       toString(sum(d.routed_to_lp)) AS routed_to_lp, toString(sum(d.routed_to_bankroll)) AS routed_to_bankroll,
       toString(sum(d.protocol_cut)) AS protocol_cut, toString(sum(d.profit)) AS profit,
       toString(sum(d.buyback_spent)) AS buyback_spent, max(d.last_event) AS last_event
     FROM quote_days AS d FINAL
     GROUP BY d.day, d.quote_mint
     HAVING sum(d.event_count) > 0
     ORDER BY day, quote_mint`,
    {},
  );
}
