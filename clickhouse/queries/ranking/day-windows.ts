import { DAY_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import { STANDING } from '../activity/derived.ts';
import { FIRST_SLOT_AFTER } from '../status/slot-bounds.ts';

/** What a window of 24 hours holds, and until when it stays so where nothing new comes. */
export interface DayWindow<Row> {
  row: Row;
  /** Unix seconds at which the first event leaves it, or one that is ahead of the clock enters it. */
  until: number;
}

export interface EventsOfDay {
  count: number;
  /** Block time of the newest of them, unix seconds. */
  last_time: string | null;
}

export interface ClaimsOfDay {
  quote_amount: string;
  base_amount: string;
  count: string;
  last_time: string | null;
}

/** Block times of the first event of a window, and of the first behind it. */
export type Edges = { first_time: string | null; next_time: string | null };

const EDGES = `minIf(block_time, block_time <= {until:Int64}) AS first_time,
       minIf(block_time, block_time > {until:Int64}) AS next_time`;

/** Events of each of these mints, all mints where null, with `until` − 24 h < block time <= `until`; stored twice counts once. */
export async function eventsOfDay(
  store: Store,
  mints: readonly string[] | null,
  until: number,
): Promise<Map<string, DayWindow<EventsOfDay>>> {
  const rows = await store.query<EventsOfDay & Edges & { mint: string }>(
    `SELECT mint, toUInt32(uniqExactIf((signature, position), block_time <= {until:Int64})) AS count,
       maxIf(block_time, block_time <= {until:Int64}) AS last_time, ${EDGES}
     FROM ${mints === null ? 'events_by_slot' : 'events'}
     WHERE slot >= ${FIRST_SLOT_AFTER}
       AND block_time > {after:Int64} AND ${STANDING}
       ${mints === null ? '' : 'AND mint IN {mints:Array(String)}'}
     GROUP BY mint`,
    { mints: mints === null ? [] : [...mints], until, after: until - DAY_S },
  );
  return new Map(
    rows.map((row) => [
      row.mint,
      { row: { count: row.count, last_time: row.last_time }, until: untilOf(row) },
    ]),
  );
}

/** Claims of each of these mints in the same window. */
export async function claimsOfDay(
  store: Store,
  mints: readonly string[],
  until: number,
): Promise<Map<string, DayWindow<ClaimsOfDay>>> {
  const rows = await store.query<ClaimsOfDay & Edges & { mint: string }>(
    `SELECT mint, toString(sumIf(toUInt128(amount_a), block_time <= {until:Int64})) AS quote_amount,
       toString(sumIf(toUInt128(amount_b), block_time <= {until:Int64})) AS base_amount,
       toString(countIf(block_time <= {until:Int64})) AS count,
       maxIf(block_time, block_time <= {until:Int64}) AS last_time, ${EDGES}
     FROM events FINAL
     WHERE mint IN {mints:Array(String)} AND slot >= ${FIRST_SLOT_AFTER}
       AND kind = 'FeesClaimed' AND block_time > {after:Int64}
     GROUP BY mint`,
    { mints: [...mints], until, after: until - DAY_S },
  );
  return new Map(
    rows.map(({ quote_amount, base_amount, count, last_time, ...edges }) => [
      edges.mint,
      { row: { quote_amount, base_amount, count, last_time }, until: untilOf(edges) },
    ]),
  );
}

/** Unix seconds until which a window holds what it holds. */
export function untilOf({ first_time, next_time }: Edges): number {
  const leaves = first_time === null ? Number.POSITIVE_INFINITY : Number(first_time) + DAY_S;
  return Math.min(leaves, next_time === null ? Number.POSITIVE_INFINITY : Number(next_time));
}
