import { DAY_S } from '../../../schemas/units.ts';
import type { Store } from '../../client.ts';
import { inOrderUpTo, type KeyRange, keyWithin } from '../../in-order.ts';
import { FIRST_SLOT_AFTER } from '../status/slot-bounds.ts';
import { amongMints, type PolicySelection } from './policy-selection.ts';

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

/** What a window held when it was read, and what leaves and enters it first: tells it for a while without the store. */
export interface SlidingWindow<Row, One> {
  row: Row;
  /** In the order in which they leave. */
  leaving: readonly One[];
  /** Those ahead of the clock, in the order in which they enter. */
  coming: readonly One[];
}

export type EventWindow = SlidingWindow<EventsOfDay, number>;
export type Claim = { time: number; quote: string; base: string };
export type ClaimWindow = SlidingWindow<ClaimsOfDay, Claim>;

/** Shared, since most windows have none. */
const NONE: readonly never[] = [];

export const NO_EVENTS: EventWindow = { row: { count: 0, last_time: null }, leaving: NONE, coming: NONE };
export const NO_CLAIMS: ClaimWindow = {
  row: { quote_amount: '0', base_amount: '0', count: '0', last_time: null },
  ...{ leaving: NONE, coming: NONE },
};

/** Block times of the first event of a window, and of the first behind it. */
export type Edges = { first_time: string | null; next_time: string | null };

/** How many of those that leave first are kept with their times, and how many of those that enter first. */
const KNOWN = 16;

/** The first of what is in a window, and of what is ahead of it. */
const firstOf = (one: string): string => `
  groupArraySortedIf(${KNOWN})(${one}, block_time <= {until:Int64}) AS leaving,
  groupArraySortedIf(${KNOWN})(${one}, block_time > {until:Int64}) AS coming`;

type EventsRow = EventsOfDay & { mint: string; leaving: string[]; coming: string[] };
type ClaimsRow = ClaimsOfDay & Record<'leaving' | 'coming', [string, string, string][]> & { mint: string };

const EVENTS = `toUInt32(countIf(block_time <= {until:Int64})) AS count,
  maxIf(block_time, block_time <= {until:Int64}) AS last_time,
  ${firstOf('assumeNotNull(block_time)')}`;
const CLAIMS = `toString(sumIf(toUInt128(amount_a), block_time <= {until:Int64})) AS quote_amount,
  toString(sumIf(toUInt128(amount_b), block_time <= {until:Int64})) AS base_amount,
  toString(countIf(block_time <= {until:Int64})) AS count,
  maxIf(block_time, block_time <= {until:Int64}) AS last_time,
  ${firstOf('(assumeNotNull(block_time), amount_a, amount_b)')}`;

const IS_EVENT = "kind != ''";
const IS_CLAIM = "kind = 'FeesClaimed'";
const OF_DAY = `slot >= ${FIRST_SLOT_AFTER}`;

const windowIn = (table: 'events' | 'events_by_slot', which: string): string =>
  `FROM ${table} FINAL WHERE ${OF_DAY} AND block_time > {after:Int64} AND ${which}`;

const dayUpTo = (until: number) => ({ until, after: until - DAY_S });

/** Most rows of a day to go through: a second or two of the engine. */
const MOST_OF_DAY = 10_000_000;

/** The windows of all mints of a stretch. */
const byMintInOrder = (columns: string, which: string) => {
  const inStretch = inOrderUpTo(
    MOST_OF_DAY,
    `events_by_slot WHERE ${OF_DAY}`,
    // The table in the order of slots: of that one only the day is read, however long the past is.
    `SELECT mint AS key, mint, ${columns} ${windowIn('events_by_slot', which)} AND ${keyWithin('mint')}
     GROUP BY mint ORDER BY mint LIMIT {most:UInt32}`,
  );
  return (store: Store, stretch: KeyRange, until: number) => inStretch(store, stretch, dayUpTo(until));
};

export const eventsOfDayInOrder = byMintInOrder(EVENTS, IS_EVENT);
export const claimsOfDayInOrder = byMintInOrder(CLAIMS, IS_CLAIM);

/** Events of each of these mints with `until` − 24 h < block time <= `until`. */
export async function eventsOfDay(
  store: Store,
  mints: PolicySelection,
  until: number,
): Promise<Map<string, DayWindow<EventWindow>>> {
  const { sql, params } = amongMints('mint', mints);
  const rows = await store.query<EventsRow>(
    `SELECT mint, ${EVENTS} ${windowIn('events', IS_EVENT)} AND ${sql} GROUP BY mint`,
    { ...params, ...dayUpTo(until) },
  );
  return new Map(rows.map((row) => [row.mint, eventsWindow(row)]));
}

export function eventsWindow({ count, last_time, leaving, coming }: EventsRow): DayWindow<EventWindow> {
  const window = {
    row: { count, last_time },
    leaving: leaving.map(Number),
    coming: coming.length === 0 ? NONE : coming.map(Number),
  };
  return { row: window, until: countableUntil(window, count, (time) => time) };
}

/** Claims of each of these mints in the same window. */
export async function claimsOfDay(
  store: Store,
  mints: readonly string[],
  until: number,
): Promise<Map<string, DayWindow<ClaimWindow>>> {
  const rows = await store.query<ClaimsRow>(
    `SELECT mint, ${CLAIMS} ${windowIn('events', IS_CLAIM)} AND mint IN {mints:Array(String)} GROUP BY mint`,
    { mints: [...mints], ...dayUpTo(until) },
  );
  return new Map(rows.map((row) => [row.mint, claimsWindow(row)]));
}

export function claimsWindow(row: ClaimsRow): DayWindow<ClaimWindow> {
  const { quote_amount, base_amount, count, last_time, leaving, coming } = row;
  const claims = (list: typeof leaving) =>
    list.length === 0 ? NONE : list.map(([time, quote, base]) => ({ time: Number(time), quote, base }));
  const window = {
    row: { quote_amount, base_amount, count, last_time },
    ...{ leaving: claims(leaving), coming: claims(coming) },
  };
  return { row: window, until: countableUntil(window, Number(count), ({ time }) => time) };
}

/** Unix seconds until which a window can be told from what is kept: of the last kept second there may be more. */
function countableUntil<One>(
  { leaving, coming }: Pick<SlidingWindow<unknown, One>, 'leaving' | 'coming'>,
  count: number,
  timeOf: (one: One) => number,
): number {
  const last = leaving.at(-1);
  const farthest = coming.length < KNOWN ? undefined : coming.at(-1);
  return Math.min(
    last === undefined || leaving.length === count ? Number.POSITIVE_INFINITY : timeOf(last) + DAY_S,
    farthest === undefined ? Number.POSITIVE_INFINITY : timeOf(farthest),
  );
}

/** What a window holds at a later moment `now`, unix seconds, as long as that can be told from what is kept of it. */
export function eventsAt(window: EventWindow, now: number): DayWindow<EventsOfDay> {
  const { row } = window;
  const { left, entered, until } = movedAt(window, (time) => time, now);
  if (left.length + entered.length === 0) return { row, until };
  const count = row.count + entered.length - left.length;
  return { row: { count, last_time: lastTime(count, entered.at(-1), row) }, until };
}

export function claimsAt(window: ClaimWindow, now: number): DayWindow<ClaimsOfDay> {
  const { row } = window;
  const { left, entered, until } = movedAt(window, ({ time }) => time, now);
  if (left.length + entered.length === 0) return { row, until };
  const sumOf = (whole: string, amount: 'quote' | 'base') => {
    const sum = (claims: readonly Claim[]) => claims.reduce((all, claim) => all + BigInt(claim[amount]), 0n);
    return (BigInt(whole) + sum(entered) - sum(left)).toString();
  };
  const count = Number(row.count) + entered.length - left.length;
  return {
    row: {
      quote_amount: sumOf(row.quote_amount, 'quote'),
      base_amount: sumOf(row.base_amount, 'base'),
      count: String(count),
      last_time: lastTime(count, entered.at(-1)?.time, row),
    },
    until,
  };
}

function lastTime(
  count: number,
  entered: number | undefined,
  { last_time }: { last_time: string | null },
): string | null {
  if (count === 0) return null;
  return entered === undefined ? last_time : String(entered);
}

function movedAt<One>(
  { leaving, coming }: Pick<SlidingWindow<unknown, One>, 'leaving' | 'coming'>,
  timeOf: (one: One) => number,
  now: number,
): { left: readonly One[]; entered: readonly One[]; until: number } {
  // What enters the window leaves it later than all that is in it now.
  const all = coming.length === 0 ? leaving : [...leaving, ...coming];
  const stays = all.findIndex((one) => timeOf(one) + DAY_S > now);
  const ahead = coming.findIndex((one) => timeOf(one) > now);
  const [leaves, enters] = [all[stays], coming[ahead]];
  return {
    left: stays < 0 ? all : all.slice(0, stays),
    entered: ahead < 0 ? coming : coming.slice(0, ahead),
    until: Math.min(
      leaves === undefined ? Number.POSITIVE_INFINITY : timeOf(leaves) + DAY_S,
      enters === undefined ? Number.POSITIVE_INFINITY : timeOf(enters),
    ),
  };
}

/** Unix seconds until which a window with these edges stays as it is. */
export function untilOf({ first_time, next_time }: Edges): number {
  const leaves = first_time === null ? Number.POSITIVE_INFINITY : Number(first_time) + DAY_S;
  return Math.min(leaves, next_time === null ? Number.POSITIVE_INFINITY : Number(next_time));
}
