import { DAY_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import { FIRST_SLOT_AFTER } from '../status/slot-bounds.ts';
import { amongMints, type Which } from './which.ts';

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

/** What a window held when it was asked for, and the first that leave it: it can be told without the store for a while. */
export interface Leaving<Row, Left> {
  row: Row;
  /** In the order in which they leave. */
  leaving: readonly Left[];
}

export type EventWindow = Leaving<EventsOfDay, number>;
export type ClaimWindow = Leaving<ClaimsOfDay, { time: number; quote: string; base: string }>;

export const NO_EVENTS: EventWindow = { row: { count: 0, last_time: null }, leaving: [] };
export const NO_CLAIMS: ClaimWindow = {
  row: { quote_amount: '0', base_amount: '0', count: '0', last_time: null },
  leaving: [],
};

/** Block times of the first event of a window, and of the first behind it. */
export type Edges = { first_time: string | null; next_time: string | null };

/** So many of those that leave first are known by their times. */
const KNOWN = 16;

const NEXT = 'minIf(block_time, block_time > {until:Int64}) AS next_time';

/** Events of each of these mints with `until` − 24 h < block time <= `until`. */
export async function eventsOfDay(
  store: Store,
  mints: Which,
  until: number,
): Promise<Map<string, DayWindow<EventWindow>>> {
  const { sql, params } = amongMints('mint', mints);
  const rows = await store.query<EventsOfDay & { mint: string; leaving: string[]; next_time: string | null }>(
    `SELECT mint, toUInt32(countIf(block_time <= {until:Int64})) AS count,
       maxIf(block_time, block_time <= {until:Int64}) AS last_time,
       groupArraySortedIf(${KNOWN})(assumeNotNull(block_time), block_time <= {until:Int64}) AS leaving, ${NEXT}
     FROM events FINAL
     WHERE ${sql} AND slot >= ${FIRST_SLOT_AFTER} AND kind != '' AND block_time > {after:Int64}
     GROUP BY mint`,
    { ...params, until, after: until - DAY_S },
  );
  return new Map(
    rows.map(({ mint, count, last_time, leaving, next_time }) => {
      const window = { row: { count, last_time }, leaving: leaving.map(Number) };
      return [
        mint,
        { row: window, until: toldUntil(window.leaving.at(-1), window.leaving.length === count, next_time) },
      ];
    }),
  );
}

/** Claims of each of these mints in the same window. */
export async function claimsOfDay(
  store: Store,
  mints: readonly string[],
  until: number,
): Promise<Map<string, DayWindow<ClaimWindow>>> {
  const rows = await store.query<
    ClaimsOfDay & { mint: string; leaving: [string, string, string][]; next_time: string | null }
  >(
    `SELECT mint, toString(sumIf(toUInt128(amount_a), block_time <= {until:Int64})) AS quote_amount,
       toString(sumIf(toUInt128(amount_b), block_time <= {until:Int64})) AS base_amount,
       toString(countIf(block_time <= {until:Int64})) AS count,
       maxIf(block_time, block_time <= {until:Int64}) AS last_time,
       groupArraySortedIf(${KNOWN})((assumeNotNull(block_time), amount_a, amount_b), block_time <= {until:Int64}) AS leaving,
       ${NEXT}
     FROM events FINAL
     WHERE mint IN {mints:Array(String)} AND slot >= ${FIRST_SLOT_AFTER}
       AND kind = 'FeesClaimed' AND block_time > {after:Int64}
     GROUP BY mint`,
    { mints: [...mints], until, after: until - DAY_S },
  );
  return new Map(
    rows.map(({ mint, quote_amount, base_amount, count, last_time, leaving, next_time }) => {
      const first = leaving.map(([time, quote, base]) => ({ time: Number(time), quote, base }));
      const window = { row: { quote_amount, base_amount, count, last_time }, leaving: first };
      return [
        mint,
        { row: window, until: toldUntil(first.at(-1)?.time, first.length === Number(count), next_time) },
      ];
    }),
  );
}

/** Unix seconds until which a window can be told from what is known of it: of the last second there may be more. */
function toldUntil(last: number | undefined, all: boolean, next: string | null): number {
  const known = last === undefined || all ? Number.POSITIVE_INFINITY : last + DAY_S;
  return Math.min(known, next === null ? Number.POSITIVE_INFINITY : Number(next));
}

/** What is left of a window at a later moment that it can be told of, in unix seconds. */
export function eventsAt({ row, leaving }: EventWindow, now: number): DayWindow<EventsOfDay> {
  const { left, until } = leftAt(leaving, (time) => time, now);
  if (left.length === 0) return { row, until };
  const count = row.count - left.length;
  return { row: { count, last_time: count === 0 ? null : row.last_time }, until };
}

export function claimsAt({ row, leaving }: ClaimWindow, now: number): DayWindow<ClaimsOfDay> {
  const { left, until } = leftAt(leaving, ({ time }) => time, now);
  if (left.length === 0) return { row, until };
  const less = (whole: string, parts: readonly string[]) =>
    parts.reduce((rest, part) => rest - BigInt(part), BigInt(whole)).toString();
  const count = Number(row.count) - left.length;
  return {
    row: {
      quote_amount: less(
        row.quote_amount,
        left.map(({ quote }) => quote),
      ),
      base_amount: less(
        row.base_amount,
        left.map(({ base }) => base),
      ),
      count: String(count),
      last_time: count === 0 ? null : row.last_time,
    },
    until,
  };
}

function leftAt<Left>(
  leaving: readonly Left[],
  timeOf: (one: Left) => number,
  now: number,
): { left: readonly Left[]; until: number } {
  const first = leaving.findIndex((one) => timeOf(one) + DAY_S > now);
  const next = leaving[first];
  return {
    left: first < 0 ? leaving : leaving.slice(0, first),
    until: next === undefined ? Number.POSITIVE_INFINITY : timeOf(next) + DAY_S,
  };
}

/** Unix seconds until which a window holds what it holds. */
export function untilOf({ first_time, next_time }: Edges): number {
  const leaves = first_time === null ? Number.POSITIVE_INFINITY : Number(first_time) + DAY_S;
  return Math.min(leaves, next_time === null ? Number.POSITIVE_INFINITY : Number(next_time));
}
