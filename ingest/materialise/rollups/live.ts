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
  type DayOutsideSums,
  daySumsOutside,
  factsIn,
  kindKeysIn,
  type OutsideSums,
  policySumsOutside,
  quoteKeysIn,
} from './outside-interval.ts';
import type { Recompute } from './recompute.ts';
import type { Touched } from './slot-intervals.ts';
import type { Fact, Sums } from './sums.ts';
import { unwrittenSpans } from './unwritten-spans.ts';

/** What a batch of a partition of the log brought; its facts are written. */
export interface SummedBatch {
  partition: number;
  /** The offset up to which all facts are written. */
  offset: bigint;
  facts: readonly Fact[];
  touched: Touched;
  /** The highest offset of the partition that was ever applied. */
  applied: bigint;
  /** Whether what is kept in memory of the partition may be stale. */
  cacheIsStale: boolean;
  /** False once the partition was taken away: nothing is written for it then. */
  owned(): boolean;
}

type Insert = (table: string, rows: readonly object[]) => Promise<void>;

/** The most facts of an interval that are kept; if there are more the engine makes the sums. */
const MOST_FACTS = 200_000;
const MOST_POLICIES = 50_000;
const NOTHING: Touched = { mints: new Set(), intervals: new Set() };

/** What is kept of a partition: the facts of one interval, and the sums over all that lies outside of it. */
interface Place {
  interval: bigint;
  facts: IntervalFacts;
  policies: Map<string, OutsideSums>;
  days: Map<string, DayOutsideSums>;
  /** Keys whose spans are not written yet. */
  unwritten: Keys;
  /** The offset up to which facts and sums hold every fact. */
  offset: bigint;
}

/**
 * Sums of the newest interval, worked out in this process: the chain's tip brings a few facts several times a second,
 * and to have the engine read them back costs more than all else that is done with them. They are made from the facts
 * by their identity and from sums over all other intervals, as the engine makes them, so that a batch may come again.
 * The interval's own span rows are not read before another interval is touched: they are written then, or by the engine
 * where this process has lost what it kept.
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
  /** Partitions of which all spans are written, except those that their place keeps back. */
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
    // Keys that have lost their last fact of the interval are written again too.
    const touched = noKeys();
    const [quotes, kinds] = await Promise.all([
      quoteKeysIn(store, partition, interval),
      kindKeysIn(store, partition, interval),
    ]);
    for (const { day, quote_mint } of quotes) touched.quote.add(keyOf(day, quote_mint));
    for (const { kind, actor } of kinds) touched.kind.add(keyOf(kind, actor));
    return { place, touched };
  };
  /** Reads the sums over the intervals outside that are not kept yet. */
  const complete = async (place: Place, partition: number, keys: Keys): Promise<void> => {
    if (place.policies.size > MOST_POLICIES) place.policies.clear();
    const mints = [...keys.mint].filter((mint) => !place.policies.has(mint));
    const days = [...new Set([...keys.quote].map((key) => partsOf(key)[0] ?? ''))];
    const unknown = days.filter((day) => !place.days.has(day));
    const [policies, ofDays] = await Promise.all([
      policySumsOutside(store, partition, place.interval, mints),
      daySumsOutside(store, partition, place.interval, unknown),
    ]);
    for (const mint of mints) place.policies.set(mint, policies(mint));
    for (const day of unknown) place.days.set(day, ofDays.get(day) ?? new Map<string, Sums>());
  };

  /** @returns whether the sums were made here; false where there are too many facts: the engine makes them then. */
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
    // The engine sums up a day again only where the interval has a span of it, and the last event of the day in this
    // interval may still move to another day: so the first span of each day is written at once.
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
  /** Writes the spans that were kept back. */
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
      // Lacking spans first: rows of the other intervals would hide that these lack. Their version is the offset
      // applied before, since they need not hold the facts of this batch, which may come again cut shorter.
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
    const { partition, touched, cacheIsStale } = batch;
    // Also where nothing is touched: what is kept lacks what others wrote meanwhile, whenever it is used next.
    if (cacheIsStale) forget(partition);
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
      // It is not known here what was written: everything is read again.
      forget(partition);
      throw error;
    }
  };
}
