import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RankingSelection } from '../../../clickhouse/queries/ranking/ranking.ts';
import { RANKING_KEYS } from '../../../clickhouse/queries/ranking/ranking-keys.ts';
import {
  isSummed,
  OWN_SORTS,
  type OwnSort,
  type Sort,
  SUM_SORTS,
  type SumSort,
} from '../../../schemas/responses/rankings.ts';
import { GONE, type Source } from '../cells/cells.ts';
import type { Touched } from './apply.ts';
import { type OrderPlace, placesOf, risingOf } from './direction.ts';
import { createOrder, type Filtered, type KeyOf, type Order } from './order.ts';
import type { RankedRow } from './row.ts';

/** A selection, with the policies whose sum of events cannot be told, by the sort that ranks by it. */
export interface RankedSelection extends RankingSelection {
  withoutSum: Readonly<Record<SumSort, ReadonlySet<string>>>;
}

/** The rows of a page, in order. */
export interface RowsPage {
  total: number;
  rows: readonly RankedRow[];
  /** That these stand there, and so many in all, is made of this. */
  of: readonly Source[];
}

/** Orders of the policies, each made when it is first asked for and kept in place from then on. */
export interface Orders {
  touch(touched: Touched): void;
  /** Forgets all: the rows are others. */
  clear(): void;
  page(rows: ReadonlyMap<string, RankedRow>, selection: RankedSelection): RowsPage;
}

/** Every sort, most of them in dollars too, and with what is absent from it. */
const MOST_ORDERS = 16;
/** Policies in all orders together, 60 bytes each; the order that nobody asked for longest goes. */
const MOST_PLACES = 4_000_000;
/** Places in filtered orders that are kept, 8 bytes each, as their names are counted too. */
const MOST_FILTERED = 4_000_000;
const PLACE_BYTES = 8;
/** Of one that holds nothing. */
const FILTERED_BYTES = 400;

/** Whose numbers a row has under their names. */
type InRow = OwnSort | SumSort;
const JOINED: Record<Exclude<Sort, InRow>, KeyOf> = {
  marketCap: (row) => row.cap,
  bankroll: (row) => row.balance,
  activity: (row) => BigInt(row.events),
};
const IN_ROW = [...OWN_SORTS, ...SUM_SORTS].map((sort): [InRow, KeyOf] => [sort, (row) => row[sort]]);
const RAW: Record<Sort, KeyOf> = { ...JOINED, ...(Object.fromEntries(IN_ROW) as Record<InRow, KeyOf>) };

interface Kept {
  /** Its stamp is another where a row took a place or left one. */
  source: Source;
  sort: Sort;
  order: Order;
  /** By quote asset; null where amounts rank as they are. */
  rates: Map<string, string> | null;
  useRates(rates: RankingSelection['rates']): void;
}

export function createOrders(mostPlaces = MOST_PLACES, mostFiltered = MOST_FILTERED): Orders {
  const orders = new LRUCache<string, Kept>({
    max: MOST_ORDERS,
    dispose: ({ source }) => {
      source.stamp = GONE;
    },
  });
  /** Of what filters look at. */
  const attributes = sourceAt(0);
  const filtered = new LRUCache<string, { order: Order; found: Filtered }>({
    maxSize: mostFiltered,
    // The name holds the text that was searched for.
    sizeCalculation: ({ found }, name) =>
      found.places.length + Math.ceil((2 * name.length + FILTERED_BYTES) / PLACE_BYTES),
  });

  const make = (rows: ReadonlyMap<string, RankedRow>, selection: RankedSelection): Kept => {
    const { sort } = selection;
    const inDollars = RANKING_KEYS[sort].money && selection.quote === null;
    const rates = new Map<string, { multiplier: bigint; divisor: bigint }>();
    const texts: Map<string, string> | null = inDollars ? new Map() : null;
    const absent = absentFor(selection);
    const keyOf: KeyOf = (row) => {
      const raw = absent(row) ? null : RAW[sort](row);
      if (raw === null || !inDollars) return raw;
      const rate = rates.get(row.quote);
      return rate === undefined ? null : (raw * rate.multiplier) / rate.divisor;
    };
    let used: RankingSelection['rates'] | null = null;
    let order: Order | null = null;
    const useRates = (now: RankingSelection['rates']) => {
      if (texts === null || now === used) return;
      used = now;
      const moved = new Set<string>();
      const left = new Set(texts.keys());
      for (const { mint, multiplier, divisor } of now) {
        const text = `${multiplier}/${divisor}`;
        left.delete(mint);
        if (texts.get(mint) === text) continue;
        texts.set(mint, text);
        rates.set(mint, { multiplier, divisor });
        moved.add(mint);
      }
      for (const mint of left) {
        texts.delete(mint);
        rates.delete(mint);
        moved.add(mint);
      }
      if (moved.size > 0) order?.touch([...rows.values()].filter((row) => moved.has(row.quote)));
    };
    useRates(selection.rates);
    order = createOrder(rows.values(), keyOf);
    return { sort, order, source: sourceAt(0), rates: texts, useRates };
  };

  return {
    clear: () => {
      attributes.stamp += 1;
      orders.clear();
      filtered.clear();
    },
    touch: (touched) => {
      if (touched.attributes.size > 0) attributes.stamp += 1;
      for (const { sort, order, source } of orders.values()) {
        order.touch(touched[sort]);
        order.touch(touched.attributes);
        // Now, not when a page is next asked for: one that is kept is asked for by its stamps alone.
        source.stamp = order.moves();
      }
    },
    page: (all, selection) => {
      const { sort, order, quote, offset, limit } = selection;
      const name = `${sort} ${quote === null} ${absenceOf(selection)}`;
      const kept = orders.get(name) ?? make(all, selection);
      orders.set(name, kept);
      while (orders.size > Math.max(1, mostPlaces / all.size)) orders.pop();
      kept.useRates(selection.rates);
      const through = filtersOf(selection);
      const rows = through && rowsThrough(selection, JSON.stringify([name, through]), kept.order);
      const [end, descending] = [offset + limit, order === 'desc'] as const;
      const page =
        rows === null
          ? kept.order.slice(offset, end, descending)
          : placesOf(risingOf([rows]), offset, end, descending);
      const total = rows?.length ?? kept.order.size();
      kept.source.stamp = kept.order.moves();
      return {
        of: rows === null ? [kept.source] : [kept.source, attributes],
        total,
        rows: page.map(({ row }) => row),
      };
    },
  };

  function rowsThrough(selection: RankedSelection, name: string, order: Order): readonly OrderPlace[] {
    const known = filtered.get(name);
    // Of an order that was dropped and made anew, another.
    const before = known?.order === order ? known.found : undefined;
    const size = before?.places.length;
    const found = order.filter(filterOf(selection), before);
    if (found !== before || found.places.length !== size) filtered.set(name, { order, found });
    return found.places;
  }
}

const sourceAt = (stamp: number): Source => ({ stamp, until: Number.POSITIVE_INFINITY, usedAt: 0 });

/** Null where all pass. */
function filtersOf({ mode, origin, model, quote, locked, paused, search }: RankedSelection) {
  const filters = [mode, origin, model, quote, locked, paused, search];
  return filters.every((filter) => filter === null) ? null : filters;
}

function filterOf(selection: RankedSelection): (row: RankedRow) => boolean {
  const { mode, origin, model, quote, locked, paused, search } = selection;
  const text = search?.toLowerCase() ?? '';
  return (row) =>
    (mode === null || row.mode === mode) &&
    (origin === null || row.origin === origin) &&
    (model === null || row.model === model) &&
    (quote === null || row.quote === quote) &&
    (locked === null || row.locked === locked) &&
    (paused === null || row.paused === paused) &&
    (search === null || row.name.includes(text) || row.symbol.includes(text) || row.mint.startsWith(search));
}

const names = new WeakMap<ReadonlySet<string>, string>();

/** One for all sets of the same: of many it is short, and made once. */
function nameOf(policies: ReadonlySet<string>): string {
  const name = names.get(policies) ?? hash('sha256', [...policies].sort().join(), 'base64');
  names.set(policies, name);
  return name;
}

/** What of a selection decides which keys are absent. */
function absenceOf({ sort, sumsKnown, withoutSum, window, undated }: RankedSelection): string {
  if (isSummed(sort)) return sumsKnown ? nameOf(withoutSum[sort]) : 'none';
  if (sort === 'activity') return window === null ? 'none' : undated.join();
  return '';
}

function absentFor(selection: RankedSelection): (row: RankedRow) => boolean {
  const { sort, sumsKnown, withoutSum, window } = selection;
  if (isSummed(sort)) return (row) => !sumsKnown || withoutSum[sort].has(row.address);
  const undated = new Set(selection.undated);
  return (row) => sort === 'activity' && (window === null || undated.has(row.mint));
}
