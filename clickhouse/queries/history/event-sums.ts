import type { Store } from '../../client.ts';

/** Amounts of a kind of event in an hour; of the first, in it and in all hours before. */
export interface HourSums {
  hour: number;
  kind: string;
  amount_a: string;
  amount_b: string;
  amount_c: string;
  last_time: string;
}

/** Of a policy's events of these kinds with a time before the hour `to`, oldest hour first. */
export function hourSums(
  store: Store,
  mint: string,
  kinds: readonly string[],
  from: number,
  to: number,
): Promise<HourSums[]> {
  return store.query(
    `SELECT toUInt32(greatest(intDiv(assumeNotNull(e.block_time), 3600) + 1, {from:UInt32}) - 1) AS hour, e.kind AS kind,
       toString(sum(toUInt128(e.amount_a))) AS amount_a, toString(sum(toUInt128(e.amount_b))) AS amount_b,
       toString(sum(toUInt128(e.amount_c))) AS amount_c, max(assumeNotNull(e.block_time)) AS last_time
     FROM events AS e FINAL
     WHERE e.mint = {mint:String} AND e.kind IN {kinds:Array(String)}
       AND e.block_time IS NOT NULL AND e.block_time < toInt64({to:UInt32}) * 3600
     GROUP BY hour, e.kind
     ORDER BY hour, kind`,
    { mint, kinds: kinds as string[], from, to },
  );
}

/** The same by quote asset over all policies. */
export type QuoteHourSums = HourSums & { quote_mint: string };

export function quoteHourSums(
  store: Store,
  kinds: readonly string[],
  from: number,
  to: number,
): Promise<QuoteHourSums[]> {
  return store.query(
    `SELECT toUInt32(greatest(intDiv(assumeNotNull(e.block_time), 3600) + 1, {from:UInt32}) - 1) AS hour, e.kind AS kind,
       e.quote_mint AS quote_mint,
       toString(sum(toUInt128(e.amount_a))) AS amount_a, toString(sum(toUInt128(e.amount_b))) AS amount_b,
       toString(sum(toUInt128(e.amount_c))) AS amount_c, max(assumeNotNull(e.block_time)) AS last_time
     FROM events_by_slot AS e FINAL
     WHERE e.kind IN {kinds:Array(String)} AND e.block_time IS NOT NULL AND e.block_time < toInt64({to:UInt32}) * 3600
     GROUP BY hour, e.kind, e.quote_mint
     ORDER BY hour, kind, quote_mint`,
    { kinds: kinds as string[], from, to },
  );
}
