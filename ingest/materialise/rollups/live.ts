import type { Store } from '../../../clickhouse/client.ts';
import {
  createIntervalFacts,
  type IntervalFacts,
  type Keys,
  keyOf,
  noKeys,
  partsOf,
} from './interval-facts.ts';
import { liveRows } from './live-rows.ts';
import {
  type DayRests,
  dayRests,
  factsIn,
  kindKeysIn,
  policyRests,
  quoteKeysIn,
  type Rests,
} from './outside-interval.ts';
import type { Touched } from './slot-intervals.ts';
import type { Fact, Sums } from './sums.ts';

/** What a batch of a partition of the log brought; its facts are written. */
export interface LiveBatch {
  partition: number;
  offset: bigint;
  facts: readonly Fact[];
  touched: Touched;
}

/** Facts of one interval that are kept; of more the engine makes the sums. */
const MOST_FACTS = 200_000;
const MOST_POLICIES = 50_000;

/** Where a partition is: the facts of one interval, and the sums over all that lies outside of it. */
interface Place {
  interval: bigint;
  facts: IntervalFacts;
  policies: Map<string, Rests>;
  days: Map<string, DayRests>;
}

export interface LiveSums {
  /**
   * Writes the sums that a batch touched, where it touched the interval that the batch before it touched, and no other.
   * @returns false where that is not so: the engine has to work them out from what it holds.
   */
  write(
    batch: LiveBatch,
    insert: (table: string, rows: readonly object[]) => Promise<void>,
  ): Promise<boolean>;
  /** Whatever is kept of the partition may be old. */
  forget(partition: number): void;
}

/**
 * Sums of the newest interval, worked out in this process: the chain's tip brings a few facts several times a second,
 * and to have the engine read them back costs more than all else that is done with them. They are made from the facts
 * by their identity and from sums over all other intervals, as the engine makes them, so that a batch may come again.
 */
export function createLiveSums(store: Store): LiveSums {
  const places = new Map<number, Place>();
  /** The interval that the last batch of a partition touched alone. */
  const last = new Map<number, bigint>();

  const open = async (
    partition: number,
    interval: bigint,
  ): Promise<{ place: Place; touched: Keys } | null> => {
    const stored = await factsIn(store, partition, interval, MOST_FACTS + 1);
    if (stored.length > MOST_FACTS) return null;
    const place: Place = { interval, facts: createIntervalFacts(), policies: new Map(), days: new Map() };
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

  const work = async ({ partition, offset, facts, touched }: LiveBatch, interval: bigint) => {
    let place = places.get(partition);
    const keys = noKeys();
    if (place === undefined) {
      const opened = await open(partition, interval);
      if (opened === null) return null;
      place = opened.place;
      add(keys, opened.touched);
    }
    const put = place.facts.put(facts);
    if (place.facts.size > MOST_FACTS) return null;
    add(keys, put);
    for (const mint of touched.mints) keys.mint.add(mint);
    await complete(place, partition, keys);
    places.set(partition, place);
    return liveRows(place, keys, { partition, offset });
  };

  const add = (to: Keys, more: Keys) => {
    for (const by of ['mint', 'quote', 'kind'] as const) for (const key of more[by]) to[by].add(key);
  };
  const forget = (partition: number) => {
    places.delete(partition);
    last.delete(partition);
  };

  return {
    forget,
    write: async (batch, insert) => {
      const { partition, touched } = batch;
      const [interval] = touched.intervals;
      const known = last.get(partition);
      if (interval === undefined || touched.intervals.size > 1) {
        forget(partition);
        return false;
      }
      if (known !== interval) {
        forget(partition);
        last.set(partition, interval);
        return false;
      }
      try {
        const rows = await work(batch, interval);
        if (rows === null) forget(partition);
        else await Promise.all(Object.entries(rows).map(([table, all]) => insert(table, all)));
        return rows !== null;
      } catch (error) {
        // What was written and what was not is not known here: read again.
        forget(partition);
        throw error;
      }
    },
  };
}
