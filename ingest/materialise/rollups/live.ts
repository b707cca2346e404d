import type { Store } from '../../../clickhouse/client.ts';
import {
  createIntervalFacts,
  type IntervalFacts,
  type Keys,
  keyOf,
  noKeys,
  partsOf,
} from './interval-facts.ts';
import { spanRows, totalRows } from './live-rows.ts';
import {
  type DayRests,
  dayRests,
  factsIn,
  kindKeysIn,
  policyRests,
  quoteKeysIn,
  type Rests,
} from './outside-interval.ts';
import type { Recompute } from './recompute.ts';
import type { Touched } from './slot-intervals.ts';
import type { Fact, Sums } from './sums.ts';
import { unwrittenSpans } from './unwritten-spans.ts';

/** What a batch of a partition of the log brought; its facts are written. */
export interface SummedBatch {
  partition: number;
  /** Up to where all facts are written. */
  offset: bigint;
  facts: readonly Fact[];
  touched: Touched;
  /** Up to where the partition ever was applied. */
  applied: bigint;
  /** Whatever is kept of the partition may be old. */
  anew: boolean;
  /** Nothing is written for a partition that was taken away. */
  owned(): boolean;
}

type Insert = (table: string, rows: readonly object[]) => Promise<void>;

/** Facts of one interval that are kept; of more the engine makes the sums. */
const MOST_FACTS = 200_000;
const MOST_POLICIES = 50_000;
const NOTHING: Touched = { mints: new Set(), intervals: new Set() };

/** Where a partition is: the facts of one interval, and the sums over all that lies outside of it. */
interface Place {
  interval: bigint;
  facts: IntervalFacts;
  policies: Map<string, Rests>;
  days: Map<string, DayRests>;
  /** Those whose spans are not written yet. */
  unwritten: Keys;
  /** Up to where they hold every fact. */
  offset: bigint;
}

/**
 * Sums of the newest interval, worked out in this process: the chain's tip brings a few facts several times a second,
 * and to have the engine read them back costs more than all else that is done with them. They are made from the facts
 * by their identity and from sums over all other intervals, as the engine makes them, so that a batch may come again.
 * Nobody reads the interval's own rows of spans before another is touched: they are written then, or by the engine where
 * this process has lost what it kept.
 * @param recompute has the engine make the sums from what it holds
 * @returns writes the sums that a batch touched
 */
export function createSums(
  store: Store,
  recompute: (one: Recompute) => Promise<void>,
): (batch: SummedBatch, insert: Insert) => Promise<void> {
  const places = new Map<number, Place>();
  /** The interval that the last batch of a partition touched alone. */
  const last = new Map<number, bigint>();
  /** Partitions of which no spans lack but those of their place. */
  const settled = new Set<number>();

  const open = async (
    partition: number,
    interval: bigint,
  ): Promise<{ place: Place; touched: Keys } | null> => {
    const stored = await factsIn(store, partition, interval, MOST_FACTS + 1);
    if (stored.length > MOST_FACTS) return null;
    const place: Place = {
      ...{ interval, facts: createIntervalFacts(), policies: new Map(), days: new Map() },
      ...{ unwritten: noKeys(), offset: -1n },
    };
    place.facts.put(stored);
    // What has lost its last fact of the interval is written again too.
    const touched = noKeys();
    const [quotes, kinds] = await Promise.all([
      quoteKeysIn(store, partition, interval),
      kindKeysIn(store, partition, interval),
    ]);
    for (const { day, quote_mint } of quotes) touched.quote.add(keyOf(day, quote_mint));
    for (const { kind, actor } of kinds) touched.kind.add(keyOf(kind, actor));
    return { place, touched };
  };
  /** Reads what is not known yet of the intervals outside. */
  const complete = async (place: Place, partition: number, keys: Keys): Promise<void> => {
    if (place.policies.size > MOST_POLICIES) place.policies.clear();
    const mints = [...keys.mint].filter((mint) => !place.policies.has(mint));
    const days = [...new Set([...keys.quote].map((key) => partsOf(key)[0] ?? ''))];
    const unknown = days.filter((day) => !place.days.has(day));
    const [policies, ofDays] = await Promise.all([
      policyRests(store, partition, place.interval, mints),
      dayRests(store, partition, place.interval, unknown),
    ]);
    for (const mint of mints) place.policies.set(mint, policies(mint));
    for (const day of unknown) place.days.set(day, ofDays.get(day) ?? new Map<string, Sums>());
  };

  /** @returns whether they are made here: of more facts the engine makes them. */
  const writeHere = async (
    { partition, offset, facts, touched }: SummedBatch,
    interval: bigint,
    insert: Insert,
  ): Promise<boolean> => {
    let place = places.get(partition);
    const keys = noKeys();
    if (place === undefined) {
      const opened = await open(partition, interval);
      if (opened === null) return false;
      place = opened.place;
      add(keys, opened.touched);
    }
    const put = place.facts.put(facts);
    add(keys, put);
    for (const mint of touched.mints) keys.mint.add(mint);
    await complete(place, partition, keys);
    // A day is summed up again where an interval has a row of it: though its last event there may go to another.
    const { unwritten } = place;
    const quote = new Set([...keys.quote].filter((key) => !unwritten.quote.has(key)));
    add(place.unwritten, keys);
    place.offset = offset;
    places.set(partition, place);
    if (place.facts.size() > MOST_FACTS) return false;
    const at = { partition, offset };
    const rows = { ...totalRows(place, keys, at), ...spanRows(place, { mint: new Set(), quote }, at) };
    await Promise.all(Object.entries(rows).map(([table, all]) => insert(table, all)));
    return true;
  };
  /** Writes what was kept back. */
  const leave = async (partition: number, insert: Insert) => {
    const place = places.get(partition);
    if (place === undefined) return;
    await complete(place, partition, place.unwritten);
    const rows = spanRows(place, place.unwritten, { partition, offset: place.offset });
    await Promise.all(Object.entries(rows).map(([table, all]) => insert(table, all)));
    places.delete(partition);
  };
  const writeInEngine = async ({ partition, offset, touched, applied, owned }: SummedBatch) => {
    const of = { partition, offset, owned };
    const lacking = settled.has(partition) ? NOTHING : await unwrittenSpans(store, partition, applied);
    if ([...lacking.intervals].every((one) => touched.intervals.has(one))) {
      const mints = new Set([...touched.mints, ...lacking.mints]);
      await recompute({ ...of, mints, intervals: touched.intervals });
    } else {
      // First: what is told of the others would have it forgotten that these are lacking. What is touched is not summed up
      // yet: they hold no fact of this batch for sure, which may come again cut shorter.
      await recompute({ ...of, offset: applied < 0n ? 0n : applied, ...lacking });
      await recompute({ ...of, ...touched });
    }
    settled.add(partition);
  };

  const add = (to: Keys, more: Keys) => {
    for (const by of ['mint', 'quote', 'kind'] as const) for (const key of more[by]) to[by].add(key);
  };
  const forget = (partition: number) => {
    places.delete(partition);
    last.delete(partition);
    settled.delete(partition);
  };

  return async (batch, insert) => {
    const { partition, touched, anew } = batch;
    // Also where nothing is touched: what others wrote meanwhile is lacking in what is kept, whenever it is next gone by.
    if (anew) forget(partition);
    if (touched.intervals.size === 0) return;
    const [interval] = touched.intervals;
    const isAlone = interval !== undefined && touched.intervals.size === 1;
    const isSame = isAlone && last.get(partition) === interval;
    try {
      if (isSame && (await writeHere(batch, interval, insert))) return;
      await leave(partition, insert);
      last.delete(partition);
      await writeInEngine(batch);
      if (isAlone && !isSame) last.set(partition, interval);
    } catch (error) {
      // What was written and what was not is not known here: read again.
      forget(partition);
      throw error;
    }
  };
}
