import { eachYielding } from '../../../runtime/yielding.ts';
import type { Store } from '../../client.ts';
import { askInLines } from '../../question.ts';

/** Summed amounts of a kind of event in an hour; those of the first hour are of all hours before it, too. */
export interface HourSums {
  hour: number;
  kind: string;
  amount_a: string;
  amount_b: string;
  amount_c: string;
  last_time: string;
}

/** The sums of a policy's events of these kinds with a time before the hour `to`, oldest hour first. */
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

/** The same by quote asset over all policies, each in the last hour of its step. */
export type QuoteStepSums = ReadonlyMap<string, readonly HourSums[]>;

/** Bytes in memory of such a row, and of what is worked out of it. */
const SUMS_BYTES = 400;

/** About how many bytes they take in memory. */
export const quoteStepBytes = (sums: QuoteStepSums): number =>
  [...sums.values()].reduce((bytes, { length }) => bytes + length * SUMS_BYTES, 0);

const STEPS_BEHIND =
  'intDiv(greatest(intDiv(assumeNotNull(e.block_time), 3600) + 1 - {first:UInt32}, 0) + {each:UInt32} - 1, {each:UInt32})';
/** The last hour of the step that an event is in. */
const LAST_HOUR = `toUInt32({first:UInt32} + ${STEPS_BEHIND} * {each:UInt32} - 1)`;

/** @param ends of steps, in hours since 1970: the first, the last, and how far they are apart */
export async function quoteStepSums(
  store: Store,
  kinds: readonly string[],
  ends: { first: number; last: number; each: number },
): Promise<QuoteStepSums> {
  const rows = await askInLines<HourSums & { quote_mint: string }>(store, {
    sql: `SELECT ${LAST_HOUR} AS hour, e.kind AS kind, e.quote_mint AS quote_mint,
       toString(sum(toUInt128(e.amount_a))) AS amount_a, toString(sum(toUInt128(e.amount_b))) AS amount_b,
       toString(sum(toUInt128(e.amount_c))) AS amount_c, max(assumeNotNull(e.block_time)) AS last_time
     FROM events_by_slot AS e FINAL
     WHERE e.kind IN {kinds:Array(String)} AND e.block_time IS NOT NULL AND e.block_time < toInt64({last:UInt32}) * 3600
     GROUP BY hour, e.kind, e.quote_mint
     ORDER BY hour, kind, quote_mint`,
    params: { kinds: kinds as string[], ...ends },
  });
  const sums = new Map<string, HourSums[]>();
  await eachYielding(rows, ({ quote_mint, ...row }) => {
    const of = sums.get(quote_mint) ?? [];
    sums.set(quote_mint, of);
    of.push(row);
  });
  return sums;
}
