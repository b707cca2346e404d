import type { Order, Sort } from '../../../schemas/responses/rankings.ts';
import type { Params, Store } from '../../client.ts';
import { withLongLists } from '../../key-pieces.ts';
import { JOIN_QUOTE_RATES, RANKING_KEYS } from './ranking-keys.ts';

/** Dollars of one base unit of a quote asset, in millionths: floor(amount × multiplier / divisor). */
export interface QuoteRate {
  mint: string;
  multiplier: bigint;
  divisor: bigint;
}

export interface RankingSelection {
  sort: Sort;
  order: Order;
  limit: number;
  offset: number;
  mode: string | null;
  origin: number | null;
  model: number | null;
  quote: string | null;
  locked: boolean | null;
  paused: boolean | null;
  search: string | null;
  /** Program that owns the pools. */
  launchpad: string;
  /** The quote assets that have a price; not looked at where `quote` narrows to one. */
  rates: readonly QuoteRate[];
  /** Window of `activity` in unix seconds; null while the last 24 hours are not covered. */
  window: { after: number; until: number } | null;
  /** Mints with an event that may or may not be in the window, since its time is not known. */
  undated: readonly string[];
  /** Whether sums of events can be told at all; those of policies with an incomplete transaction never can. */
  sumsKnown: boolean;
}

/** A policy, and what it was ranked by, before dollars; null: absent. */
export interface RankedPlace {
  address: string;
  key: string | null;
}

export interface RankedPage {
  total: number;
  places: RankedPlace[];
}

/** A selection as a text; equal selections have equal texts. */
export function writeSelection(selection: RankingSelection): string {
  return JSON.stringify(selection, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
}

export function readSelection(text: string): RankingSelection {
  const selection = JSON.parse(text) as RankingSelection;
  const rates = selection.rates.map(({ mint, multiplier, divisor }) => ({
    mint,
    multiplier: BigInt(multiplier),
    divisor: BigInt(divisor),
  }));
  return { ...selection, rates };
}

/** A filter value no policy has, for an id beyond what the column can hold. */
const NO_ID = -1;

const NAMES = `LEFT JOIN (
       SELECT m.address AS address, ifNull(m.name, '') AS name, ifNull(m.symbol, '') AS symbol,
         ifNull(m.metadata_pointer, '') AS pointer
       FROM mints AS m FINAL WHERE m.exists = 1
     ) AS n ON n.address = p.mint
     LEFT JOIN (
       SELECT address, mint, name, symbol, toUInt8(1) AS found FROM metadata_accounts FINAL WHERE exists = 1
     ) AS x ON x.address = n.pointer AND x.mint = p.mint`;

const FILTERS: Record<'mode' | 'origin' | 'model' | 'quote' | 'locked' | 'paused' | 'search', string> = {
  mode: 'p.mode = {mode:String}',
  origin: 'p.origin_id = {origin:Int32}',
  model: "if(p.mode = 'Passive', 0, p.model_id) = {model:Int32}",
  quote: 'p.quote_mint = {quote:String}',
  locked: 'p.locked = {locked:UInt8}',
  paused: 'p.paused = {paused:UInt8}',
  search: `(position(lowerUTF8(if(x.found, x.name, n.name)), lowerUTF8({search:String})) > 0
       OR position(lowerUTF8(if(x.found, x.symbol, n.symbol)), lowerUTF8({search:String})) > 0
       OR startsWith(p.mint, {search:String}))`,
};

/**
 * One page of the ranking: policies in order, and how many policies pass the filters. Absent keys come
 * last in both orders, equal ones stand by mint. Keys are whole numbers of up to 256 bits.
 */
export async function rankedPage(store: Store, question: RankingSelection): Promise<RankedPage> {
  const { join, key, money } = RANKING_KEYS[question.sort];
  const inDollars = money && question.quote === null;
  const used = (Object.keys(FILTERS) as (keyof typeof FILTERS)[]).filter((name) => question[name] !== null);
  const from = `FROM (SELECT * FROM policies FINAL WHERE exists = 1) AS p
     ${question.search === null ? '' : NAMES}`;
  const where = `WHERE ${['1', ...used.map((name) => FILTERS[name])].join('\n       AND ')}`;
  const params = parametersOf(question);
  const ranked = withLongLists(
    `SELECT p.address AS address, toUInt32(count() OVER ()) AS total, toString(${key}) AS key,
       ${inDollars ? `if(q.found, intDiv(toUInt256(${key}) * q.multiplier, greatest(q.divisor, 1)), NULL)` : key} AS rank_key
     ${from}
     ${join}
     ${inDollars ? JOIN_QUOTE_RATES : ''}
     ${where}
     ORDER BY isNull(rank_key), rank_key ${question.order === 'asc' ? 'ASC' : 'DESC'}, p.mint
     LIMIT {limit:UInt32} OFFSET {offset:UInt32}`,
    { ...params, ...(inDollars ? ratesIn(question) : {}), undated: question.undated },
  );
  const rows = await store.query<RankedPlace & { total: number }>(...ranked);
  const [first] = rows;
  if (first !== undefined)
    return { total: first.total, places: rows.map(({ address, key: by }) => ({ address, key: by })) };
  if (question.offset === 0) return { total: 0, places: [] };
  const [counted] = await store.query<{ total: number }>(
    `SELECT toUInt32(count()) AS total ${from} ${where}`,
    params,
  );
  return { total: counted?.total ?? 0, places: [] };
}

function parametersOf(question: RankingSelection): Params {
  const id = (value: number | null) => (value !== null && value >= 0 && value <= 65_535 ? value : NO_ID);
  return {
    limit: question.limit,
    offset: question.offset,
    mode: question.mode ?? '',
    origin: id(question.origin),
    model: id(question.model),
    quote: question.quote ?? '',
    locked: question.locked === true ? 1 : 0,
    paused: question.paused === true ? 1 : 0,
    search: question.search ?? '',
    launchpad: question.launchpad,
    after: question.window?.after ?? 0,
    until: question.window?.until ?? 0,
    covered: question.window === null ? 0 : 1,
    sumsKnown: question.sumsKnown ? 1 : 0,
  };
}

const ratesIn = ({ rates }: RankingSelection): Params => ({
  mints: rates.map((rate) => rate.mint),
  multipliers: rates.map((rate) => rate.multiplier),
  divisors: rates.map((rate) => rate.divisor),
});

/** How many policies there are, those that ended included. */
export async function policyCount(store: Store): Promise<number> {
  const [row] = await store.query<{ count: string }>('SELECT uniqExact(address) AS count FROM policies');
  return Number(row?.count ?? 0);
}
