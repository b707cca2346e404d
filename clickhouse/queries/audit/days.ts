import { DAY_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import { asStored, QUOTE_SUMS, type QuoteSums } from '../../sum-columns.ts';
import { AT_LOW_COST } from './ranges.ts';

/** Sums of a UTC day and quote asset in one partition of the log. */
export type PartitionDay = QuoteSums & { day: string; quote_mint: string; log_partition: number };

/** Days as unix seconds: `from` is in it, `to` is not. */
export interface DayRange {
  from: number;
  to: number;
}

/** The days that have an event or a row; null where there is neither. */
export async function allDays(store: Store): Promise<DayRange | null> {
  const [row] = await store.query<{ first: string | null; last: string | null }>(
    `SELECT min(at) AS first, max(at) AS last FROM (
       SELECT minOrNull(block_time) AS at FROM events_by_slot
       UNION ALL SELECT maxOrNull(block_time) FROM events_by_slot
       UNION ALL SELECT minOrNull(toInt64(toUnixTimestamp(day, 'UTC'))) FROM quote_days
       UNION ALL SELECT maxOrNull(toInt64(toUnixTimestamp(day, 'UTC'))) FROM quote_days
     ) ${AT_LOW_COST}`,
  );
  if (row?.first == null || row.last == null) return null;
  return { from: dayOf(Number(row.first)), to: dayOf(Number(row.last)) + DAY_S };
}

const dayOf = (time: number) => Math.floor(time / DAY_S) * DAY_S;

/** The sums that readers are served; a row without events is as good as none. */
export function storedDays(store: Store, { from, to }: DayRange): Promise<PartitionDay[]> {
  return store.query<PartitionDay>(
    `SELECT toString(t.day) AS day, t.quote_mint AS quote_mint, t.log_partition AS log_partition,
       ${asStored(QUOTE_SUMS)}
     FROM quote_days AS t FINAL
     WHERE t.day >= toDate(fromUnixTimestamp64Second({from:Int64}, 'UTC'))
       AND t.day < toDate(fromUnixTimestamp64Second({to:Int64}, 'UTC'))
     ORDER BY day, quote_mint, log_partition
     ${AT_LOW_COST}`,
    { from, to },
  );
}

/**
 * The same sums made of the facts. Written out once more, apart from the code that makes the stored ones, so that a
 * mistake there shows. `print` is a hash of the facts that were summed: it changes where any of them does.
 */
export function recomputedDays(
  store: Store,
  { from, to }: DayRange,
): Promise<(PartitionDay & { print: string })[]> {
  return store.query<PartitionDay & { print: string }>(
    `SELECT toString(toDate(fromUnixTimestamp64Second(assumeNotNull(block_time), 'UTC'))) AS day,
       quote_mint, log_partition,
       toString(sumIf(toUInt128(amount_c), kind = 'Routed')) AS routed_to_lp,
       toString(sumIf(toUInt128(amount_d), kind = 'Routed')) AS routed_to_bankroll,
       toString(sumIf(toUInt128(amount_b), kind = 'Routed')) AS protocol_cut,
       toString(sumIf(toUInt128(amount_a), kind = 'ProfitSwept')) AS profit,
       toString(sumIf(toUInt128(amount_a), kind = 'BuybackBurned')) AS buyback_spent,
       toString(countIf(kind != '')) AS event_count,
       max(block_time) AS last_event,
       toString(groupBitXor(cityHash64(slot, signature, position, kind, has_index, ifNull(block_time, -1),
         amount_a, amount_b, amount_c, amount_d))) AS print
     FROM events_by_slot FINAL
     WHERE block_time >= {from:Int64} AND block_time < {to:Int64}
     GROUP BY day, quote_mint, log_partition
     ORDER BY day, quote_mint, log_partition
     ${AT_LOW_COST}`,
    { from, to },
  );
}
