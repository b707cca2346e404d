import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';
import { AT_LOW_COST } from './ranges.ts';

/** What is summed: `Routed.a` is amount_a of Routed, `Routed.count` their number, `*.count` that of all events. */
export type Term = `${string}.${'a' | 'b' | 'c' | 'd' | 'count'}`;

const MOST_SLOTS = '18446744073709551615';

const amountOf = (columns: string) => `sum(
  if(has({terms:Array(String)}, concat(kind, '.a')), toUInt128(${columns}amount_a), 0)
  + if(has({terms:Array(String)}, concat(kind, '.b')), toUInt128(${columns}amount_b), 0)
  + if(has({terms:Array(String)}, concat(kind, '.c')), toUInt128(${columns}amount_c), 0)
  + if(has({terms:Array(String)}, concat(kind, '.d')), toUInt128(${columns}amount_d), 0)
  + (kind != '' AND hasAny({terms:Array(String)}, ['*.count', concat(kind, '.count')])))`;

const OF_MINT = `SELECT e.slot AS slot, ${amountOf('e.')} AS amount
FROM events AS e FINAL
WHERE e.mint = {mint:String} AND e.slot <= {upTo:UInt64}
  AND ({partition:Int64} < 0 OR e.log_partition = {partition:Int64})
GROUP BY e.slot`;

const OF_DAY = `SELECT s.slot AS slot, ${amountOf('s.')} AS amount
FROM events_by_slot AS s FINAL
WHERE s.block_time >= {from:Int64} AND s.block_time < {to:Int64} AND s.quote_mint = {quoteMint:String}
  AND ({partition:Int64} < 0 OR s.log_partition = {partition:Int64})
GROUP BY s.slot`;

const OF_RUN = `SELECT s.slot AS slot, ${amountOf('s.')} AS amount
FROM events_by_slot AS s FINAL
WHERE intDiv(s.slot, 512) = {run:UInt64} AND s.kind = {kind:String} AND s.actor = {actor:String}
  AND s.block_time IS NOT NULL AND ({partition:Int64} < 0 OR s.log_partition = {partition:Int64})
GROUP BY s.slot`;

const SUMMED: Record<SummedEvents['of'], string> = { mint: OF_MINT, day: OF_DAY, run: OF_RUN };

/** The events that a figure sums. */
export type SummedEvents =
  | { of: 'mint'; mint: string; partition: number | null; upTo: string | null }
  | { of: 'day'; from: number; to: number; quoteMint: string; partition: number }
  /** Of a kind in 512 slots. */
  | { of: 'run'; run: string; kind: string; actor: string; partition: number };

/** The first slot at whose end the events sum to more than `limit`; null where they never do. */
export async function firstSlotAbove(
  store: Store,
  events: SummedEvents,
  terms: readonly Term[],
  limit: string,
): Promise<string | null> {
  const { of, partition, ...rest } = events;
  const conditions = events.of === 'mint' ? { ...rest, upTo: events.upTo ?? MOST_SLOTS } : rest;
  const [row] = await store.query<{ slot: string | null }>(
    `SELECT minOrNull(slot) AS slot
     FROM (SELECT slot, sum(amount) OVER (ORDER BY slot) AS running FROM (${SUMMED[of]}))
     WHERE running > {limit:UInt128}
     ${AT_LOW_COST}`,
    { ...conditions, terms, limit, partition: partition ?? -1 },
  );
  return row?.slot ?? null;
}

/** How many events of the mint are stored of each of these signatures; one without any is left out. */
export async function eventsPerSignature(
  store: Store,
  mint: string,
  signatures: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.query<{ signature: string; count: number }>(
    `SELECT signature, toUInt32(uniqExact(position)) AS count FROM events
     WHERE mint = {mint:String} AND signature IN {signatures:Array(String)} AND position < ${FIRST_DERIVED_POSITION}
     GROUP BY signature
     ${AT_LOW_COST}`,
    { mint, signatures },
  );
  return new Map(rows.map(({ signature, count }) => [signature, count]));
}

/** The address of the policy of a mint; null where it is not known. */
export async function policyOfMint(store: Store, mint: string): Promise<string | null> {
  const [row] = await store.query<{ address: string }>(
    `SELECT address FROM policies FINAL WHERE mint = {mint:String} LIMIT 1 ${AT_LOW_COST}`,
    { mint },
  );
  return row?.address ?? null;
}
