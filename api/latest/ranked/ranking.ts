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
import { ascendingPlaces, type OrderPlace, placesOf } from './direction.ts';
import { createOrder, type Filtered, type KeyOf, type Order } from './order.ts';
import type { RankedRow } from './row.ts';

/** A selection, with the policies whose sum of events is absent, for each sort that ranks by one. */
export interface RankedSelection extends RankingSelection {
  withoutSum: Readonly<Record<SumSort, ReadonlySet<string>>>;
}

/** The rows of a page, in order. */
export interface RowsPage {
  total: number;
  rows: readonly RankedRow[];
  /** The sources that the page depends on: which rows stand on it, and how many there are in all. */
  sources: readonly Source[];
}

/** Orders of the policies, each made when it is first asked for and kept in place from then on. */
export interface Orders {
  touch(touched: Touched): void;
  /** Drops all orders, where the rows were replaced. */
  clear(): void;
  page(rows: ReadonlyMap<string, RankedRow>, selection: RankedSelection): RowsPage;
}

/** Room for every sort, most of them also in dollars, and for other sets of policies whose sum is absent. */
const MOST_ORDERS = 16;
/** Places in all orders together, 60 bytes each; beyond that the order that was used longest ago goes. */
const MOST_PLACES = 4_000_000;
/** Places in the filtered orders that are kept, 8 bytes each; their names are counted in places, too. */
const MOST_FILTERED = 4_000_000;
const PLACE_BYTES = 8;
/** Bytes of a filtered order without places. */
const FILTERED_BYTES = 400;

/** Sorts whose key a row has as a field of the same name. */
type InRow = OwnSort | SumSort;
const JOINED: Record<Exclude<Sort, InRow>, KeyOf> = {
  marketCap: (row) => row.cap,
  bankroll: (row) => row.balance,
  activity: (row) => BigInt(row.events),
};
const IN_ROW = [...OWN_SORTS, ...SUM_SORTS].map((sort): [InRow, KeyOf] => [sort, (row) => row[sort]]);
const RAW: Record<Sort, KeyOf> = { ...JOINED, ...(Object.fromEntries(IN_ROW) as Record<InRow, KeyOf>) };

interface Kept {
  /** Its stamp changes where a row takes or leaves a place. */
  source: Source;
  sort: Sort;
  order: Order;
  /** The rates to dollars as text, by quote asset; null where amounts rank as they are. */
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
  /** Its stamp changes where something changes that filters look at. */
  const attributes = sourceAt(0);
  const filtered = new LRUCache<string, { order: Order; found: Filtered }>({
    maxSize: mostFiltered,
    // The name holds the text that was searched for, which may be long.
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
        // At once, not when a page is next made: one that is kept is only checked by its stamps.
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
          : placesOf(ascendingPlaces([rows]), offset, end, descending);
      const total = rows?.length ?? kept.order.size();
      kept.source.stamp = kept.order.moves();
      return {
        sources: rows === null ? [kept.source] : [kept.source, attributes],
        total,
        rows: page.map(({ row }) => row),
      };
    },
  };

  function rowsThrough(selection: RankedSelection, name: string, order: Order): readonly OrderPlace[] {
    const known = filtered.get(name);
    // If the order was dropped and made anew since, its former places are of no use.
    const before = known?.order === order ? known.found : undefined;
    const size = before?.places.length;
    const found = order.filter(filterOf(selection), before);
    if (found !== before || found.places.length !== size) filtered.set(name, { order, found });
    return found.places;
  }
}

const sourceAt = (stamp: number): Source => ({ stamp, until: Number.POSITIVE_INFINITY, usedAt: 0 });

/** The filters of a selection; null where all rows pass. */
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

/** The same short name for all sets with the same policies, made once for each set. */
function nameOf(policies: ReadonlySet<string>): string {
  const name = names.get(policies) ?? hash('sha256', [...policies].sort().join(), 'base64');
  names.set(policies, name);
  return name;
}

/** What decides in a selection which keys are absent, as text. */
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
