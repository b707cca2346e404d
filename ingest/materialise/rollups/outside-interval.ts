import type { Store } from '../../../clickhouse/client.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { NARROWEST, WIDTHS } from './slot-intervals.ts';
import { POLICY_COLUMNS, QUOTE_COLUMNS, selected } from './summed-columns.ts';
import { type Fact, noSums, type Sums, sumsFrom } from './sums.ts';

/**
 * A policy's sums outside of an interval, by width: narrow ones beside it, wider ones beside the one around it, and so
 * on.
 */
export type OutsideSums = readonly Sums[];
/** A day's sums outside of an interval, by quote asset. */
export type DayOutsideSums = Map<string, Sums>;

const MINTS_PER_QUESTION = 500;
const NEXT = WIDTHS[1] / NARROWEST;

/** The facts of an interval, as they are stored. */
export async function factsIn(
  store: Store,
  partition: number,
  interval: bigint,
  limit: number,
): Promise<Fact[]> {
  const rows = await store.query<Omit<Fact, 'block_time'> & { block_time: string | null }>(
    `SELECT slot, signature, position, has_index, block_time, kind, actor, mint, quote_mint,
       amount_a, amount_b, amount_c, amount_d
     FROM events_by_slot FINAL
     WHERE slot >= {from:UInt64} AND slot < {to:UInt64} AND log_partition = {partition:UInt32}
     LIMIT {limit:UInt32}`,
    { from: interval * BigInt(NARROWEST), to: (interval + 1n) * BigInt(NARROWEST), partition, limit },
  );
  return rows.map((row) => ({ ...row, block_time: row.block_time === null ? null : Number(row.block_time) }));
}

/** The days and quote assets that have a row of an interval. */
export function quoteKeysIn(
  store: Store,
  partition: number,
  interval: bigint,
): Promise<{ day: string; quote_mint: string }[]> {
  return store.query(
    `SELECT DISTINCT toString(s.day) AS day, s.quote_mint AS quote_mint FROM quote_spans AS s
     WHERE s.span = {interval:UInt64} AND s.log_partition = {partition:UInt32}`,
    { interval, partition },
  );
}

/** The kinds of events, each with its actor, that have a row of an interval. */
export function kindKeysIn(
  store: Store,
  partition: number,
  interval: bigint,
): Promise<{ kind: string; actor: string }[]> {
  return store.query(
    `SELECT DISTINCT s.kind AS kind, s.actor AS actor FROM kind_spans AS s
     WHERE s.span = {interval:UInt64} AND s.log_partition = {partition:UInt32}`,
    { interval, partition },
  );
}

/** What these policies have outside of an interval, by mint. */
export async function policySumsOutside(
  store: Store,
  partition: number,
  interval: bigint,
  mints: readonly string[],
): Promise<(mint: string) => OutsideSums> {
  const outside = new Map<string, Sums[]>();
  const none = () => WIDTHS.map(() => noSums(POLICY_COLUMNS));
  for (const some of chunks(mints, MINTS_PER_QUESTION)) {
    const rows = await store.query<{ mint: string; width: number } & Record<string, unknown>>(
      `SELECT s.mint AS mint, s.width AS width, ${selected(POLICY_COLUMNS, 'ofSums')}
       FROM policy_spans AS s FINAL
       WHERE s.mint IN {mints:Array(String)} AND s.log_partition = {partition:UInt32} AND (
         s.width = ${WIDTHS[0]} AND s.span >= {wider:UInt64} * ${NEXT} AND s.span < ({wider:UInt64} + 1) * ${NEXT}
           AND s.span != {narrow:UInt64}
         OR s.width = ${WIDTHS[1]} AND s.span >= {widest:UInt64} * ${NEXT} AND s.span < ({widest:UInt64} + 1) * ${NEXT}
           AND s.span != {wider:UInt64}
         OR s.width = ${WIDTHS[2]} AND s.span != {widest:UInt64})
       GROUP BY s.mint, s.width`,
      {
        ...{ mints: some, partition },
        ...{ narrow: interval, wider: interval / BigInt(NEXT), widest: interval / BigInt(NEXT * NEXT) },
      },
    );
    for (const row of rows) {
      const of = outside.get(row.mint) ?? none();
      outside.set(row.mint, of);
      of[WIDTHS.indexOf(row.width)] = sumsFrom(POLICY_COLUMNS, row);
    }
  }
  return (mint) => outside.get(mint) ?? none();
}

/** What these days have outside of an interval. */
export async function daySumsOutside(
  store: Store,
  partition: number,
  interval: bigint,
  days: readonly string[],
): Promise<Map<string, DayOutsideSums>> {
  if (days.length === 0) return new Map();
  const rows = await store.query<{ on: string; quote_mint: string } & Record<string, unknown>>(
    `SELECT toString(s.day) AS on, s.quote_mint AS quote_mint, ${selected(QUOTE_COLUMNS, 'ofSums')}
     FROM quote_spans AS s FINAL
     WHERE s.day IN {days:Array(Date)} AND s.log_partition = {partition:UInt32} AND s.span != {interval:UInt64}
     GROUP BY s.day, s.quote_mint`,
    { days, partition, interval },
  );
  const outside = new Map<string, DayOutsideSums>();
  for (const row of rows) {
    const of = outside.get(row.on) ?? new Map<string, Sums>();
    outside.set(row.on, of);
    of.set(row.quote_mint, sumsFrom(QUOTE_COLUMNS, row));
  }
  return outside;
}
