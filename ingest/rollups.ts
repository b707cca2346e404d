import type { Params } from '../clickhouse/client.ts';

/** Mints in one statement: the list travels as a bound parameter. */
const MINTS_PER_STATEMENT = 500;

/**
 * The sums of the touched policies, recomputed from the facts of one log partition. A row of version `offset` holds
 * every fact of the partition up to that offset, so that of two writers the one that has seen more wins. The condition
 * names its table: a bare log_partition would mean the constant selected under that name.
 */
const POLICY_TOTALS = `
INSERT INTO policy_totals
SELECT
  mint, {partition:UInt32} AS log_partition, {offset:UInt64} AS log_offset,
  sumIf(toUInt128(amount_a), kind = 'FeesClaimed') AS fees_quote,
  sumIf(toUInt128(amount_b), kind = 'FeesClaimed') AS fees_base,
  countIf(kind = 'FeesClaimed') AS claim_count,
  maxOrNullIf(block_time, kind = 'FeesClaimed') AS last_claim,
  sumIf(toUInt128(amount_a), kind = 'Routed') AS routed,
  sumIf(toUInt128(amount_b), kind = 'Routed') AS protocol_cut,
  sumIf(toUInt128(amount_c), kind = 'Routed') AS routed_to_lp,
  sumIf(toUInt128(amount_d), kind = 'Routed') AS routed_to_bankroll,
  maxOrNullIf(block_time, kind = 'Routed') AS last_routed,
  sumIf(toUInt128(amount_a), kind = 'ProfitSwept') AS profit,
  sumIf(toUInt128(amount_b), kind = 'ProfitSwept') AS profit_to_lp,
  sumIf(toUInt128(amount_c), kind = 'ProfitSwept') AS profit_to_holders,
  maxOrNullIf(block_time, kind = 'ProfitSwept') AS last_swept,
  sumIf(toUInt128(amount_a), kind = 'BuybackBurned') AS buyback_spent,
  sumIf(toUInt128(amount_b), kind = 'BuybackBurned') AS buyback_burned,
  maxOrNullIf(block_time, kind = 'BuybackBurned') AS last_buyback,
  count() AS event_count
FROM events AS e FINAL
WHERE e.mint IN {mints:Array(String)} AND e.log_partition = {partition:UInt32}
GROUP BY mint`;

/**
 * The sums of the touched days. A corrected block time may take the last event of a key to another day: each key that
 * has a row gets a new one, of zeros where no fact is left.
 */
const QUOTE_DAYS = `
INSERT INTO quote_days
SELECT
  day, quote_mint, {partition:UInt32} AS log_partition, {offset:UInt64} AS log_offset,
  sumIf(toUInt128(c), kind = 'Routed') AS routed_to_lp,
  sumIf(toUInt128(d), kind = 'Routed') AS routed_to_bankroll,
  sumIf(toUInt128(b), kind = 'Routed') AS protocol_cut,
  sumIf(toUInt128(a), kind = 'ProfitSwept') AS profit,
  sumIf(toUInt128(a), kind = 'BuybackBurned') AS buyback_spent,
  countIf(fact) AS event_count,
  max(time) AS last_event
FROM (
  SELECT toDate(fromUnixTimestamp64Second(assumeNotNull(block_time), 'UTC')) AS day, quote_mint, true AS fact, kind,
    amount_a AS a, amount_b AS b, amount_c AS c, amount_d AS d, block_time AS time
  FROM events_by_slot FINAL
  WHERE block_time >= {from:Int64} AND block_time < {to:Int64} AND log_partition = {partition:UInt32}
  UNION ALL
  SELECT day, quote_mint, false, '', 0, 0, 0, 0, NULL
  FROM quote_days
  WHERE day >= toDate(fromUnixTimestamp64Second({from:Int64}, 'UTC'))
    AND day < toDate(fromUnixTimestamp64Second({to:Int64}, 'UTC')) AND log_partition = {partition:UInt32}
)
GROUP BY day, quote_mint`;

const DAY = 86_400;

/**
 * Recomputes the rollups that a batch touched.
 * @param days unix seconds at which the touched UTC days begin.
 * @param write runs one statement, or refuses where the partition was taken away.
 */
export async function recomputeRollups(
  write: (sql: string, params: Params) => Promise<void>,
  at: { partition: number; offset: bigint },
  mints: ReadonlySet<string>,
  days: ReadonlySet<number>,
): Promise<void> {
  const totals = async () => {
    const list = [...mints];
    for (let start = 0; start < list.length; start += MINTS_PER_STATEMENT) {
      await write(POLICY_TOTALS, { ...at, mints: list.slice(start, start + MINTS_PER_STATEMENT) });
    }
  };
  const series = async () => {
    for (const [from, to] of runs(days)) await write(QUOTE_DAYS, { ...at, from, to });
  };
  await Promise.all([totals(), series()]);
}

/** Consecutive days as one interval each. */
function runs(days: ReadonlySet<number>): [number, number][] {
  const found: [number, number][] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last !== undefined && last[1] === day) last[1] = day + DAY;
    else found.push([day, day + DAY]);
  }
  return found;
}
