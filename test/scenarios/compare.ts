import { expect } from 'vitest';
import type { Policy } from '../../devnet/program/state/state.ts';
import { decodeBase58 } from '../../schemas/solana/base58.ts';
import { activityItems } from './oracle/activity.ts';
import { coin } from './oracle/coin.ts';
import { days } from './oracle/days.ts';
import { coinHistory, protocolHistory } from './oracle/history.ts';
import { fees, holders, loop, positions } from './oracle/money.ts';
import { analyticsTotals, disagreements, registries, status } from './oracle/protocol.ts';
import { orderings, rankingRow, rankings } from './oracle/rankings.ts';
import type { View } from './oracle/view.ts';

export type Json = Record<string, unknown>;

export type Get = (route: string) => Promise<Json>;

/** On one machine compression costs more than it saves; other tests prove that it changes no answer. */
export const UNPACKED = { 'accept-encoding': 'identity' };

const PAGE = 200;
/** How many policies' histories are compared. */
const HISTORIES = 5;
/** For one policy in so many a page from the middle of its activity is compared too; all items are for every policy. */
const PAGED_ONE_IN = 5;
/** Requests at the same time. */
const AT_ONCE = 64;

async function same(get: Get, route: string, expected: object): Promise<void> {
  expect(await get(route), route).toStrictEqual(expected);
}

export interface Extent {
  /** Compares rankings of each quote asset and with each filter too. */
  everyOrder?: boolean;
  /** Which policies' own routes are compared, by their position; all where it is not given. */
  includes?(at: number): boolean;
  /** For how many of those the history is compared. */
  histories?: number;
}

/** Compares every read route with the oracle's answer: equal in whole, nothing missing and nothing more. */
export async function compare(
  get: Get,
  view: View,
  { everyOrder = false, includes = () => true, histories = HISTORIES }: Extent = {},
): Promise<void> {
  await compareStatus(get, view);
  const { origins, models } = registries(view);
  await same(get, '/origins', origins);
  await same(get, '/models', models);
  await compareAnalytics(get, view);
  const coins = view.policies.filter((_, at) => includes(at));
  const looked = new Set(coins.filter((_, at) => at % PAGED_ONE_IN === 0));
  await inParallel(coins, (policy) => comparePolicy(get, view, policy, looked.has(policy)));
  await compareHistories(get, view, coins, histories);
  await compareRows(get, view);
  const orders = everyOrder ? rankings(view) : orderings(view);
  await inParallel(orders, ({ query, mints }) => compareOrder(get, query, mints));
}

async function compareStatus(get: Get, view: View): Promise<void> {
  const served = await get('/status');
  expect(served, '/status').toStrictEqual(status(view));
  expect(disagreements(served.indexer as never), 'what /status says of the stream').toEqual([]);
}

export async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await run(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Says which transaction an answer names, for a failure where another was expected. */
function whereIs({ chain }: View, signature: unknown): string {
  const bytes = typeof signature === 'string' ? decodeBase58(signature) : null;
  const found = bytes === null ? null : chain.transaction(bytes);
  if (found === null) return `it names ${signature}, which is not on the chain`;
  const { block, tx } = found;
  const whose = tx.ours ? 'of the program' : "another program's";
  return `it names transaction ${tx.index} of slot ${block.slot}, ${whose}${tx.failed === null ? '' : ', which failed'}`;
}

async function comparePolicy(get: Get, view: View, policy: Policy, isPaged: boolean): Promise<void> {
  const base = `/coins/${policy.mint}`;
  const { imageReason, ...served } = await get(base);
  if (served.imageUrl === null) expect(typeof imageReason, `why ${base} has no image`).toBe('string');
  try {
    expect(served, base).toStrictEqual(coin(view, policy));
  } catch (error) {
    if (error instanceof Error) error.message += `\n${whereIs(view, served.lastIndexedSignature)}`;
    throw error;
  }
  await same(get, `${base}/positions`, positions(view, policy));
  await same(get, `${base}/fees`, fees(view, policy));
  await same(get, `${base}/loop`, loop(view, policy));
  await same(get, `${base}/holders`, holders(view, policy));
  await compareActivity(get, policy.mint, activityItems(view.eventsOf(policy.mint)), isPaged);
}

async function compareHistories(
  get: Get,
  view: View,
  coins: readonly Policy[],
  histories: number,
): Promise<void> {
  const each = Math.ceil(coins.length / histories);
  const some = coins.filter((_, at) => at % each === 0);
  for (const step of ['hour', 'day'] as const) {
    await inParallel(some, async (policy) => {
      const { query, answer } = coinHistory(view, policy, step);
      await same(get, `/coins/${policy.mint}/history?${query}`, answer);
    });
    const { query, answer } = protocolHistory(view, step);
    await same(get, `/analytics/history?${query}`, answer);
  }
}

async function compareAnalytics(get: Get, view: View): Promise<void> {
  const { revenueByDayTimeSeries, ...rest } = await get('/analytics');
  const byMint = (a: Json, b: Json) => ((a.quoteMint as string) < (b.quoteMint as string) ? -1 : 1);
  const series = (revenueByDayTimeSeries as Json[]).map((day) => {
    return { ...day, byQuote: (day.byQuote as Json[]).toSorted(byMint) };
  });
  expect(series, 'days of /analytics').toStrictEqual(days(view));
  const totals = rest.protocolTotals as { byQuote: Json[] };
  // Symbols are compared in the answers of coins.
  const byQuote = totals.byQuote.map(({ quoteSymbol: _, ...row }) => row).sort(byMint);
  expect({ ...rest, protocolTotals: { ...totals, byQuote } }, '/analytics').toStrictEqual(
    analyticsTotals(view),
  );
}

export async function compareActivity(
  get: Get,
  mint: string,
  expected: readonly object[],
  isPaged: boolean,
): Promise<void> {
  const items: object[] = [];
  for (;;) {
    const offset = items.length;
    const page = await get(`/coins/${mint}/activity?limit=${PAGE}&offset=${offset}`);
    expect(page, 'a page of activity').toMatchObject({ mint, limit: PAGE, offset });
    items.push(...(page.items as object[]));
    if (items.length - offset < PAGE) break;
  }
  expect(items, `activity of ${mint}`).toStrictEqual(expected);
  if (!isPaged) return;
  const { items: middle } = await get(`/coins/${mint}/activity?limit=3&offset=2`);
  expect(middle, `a page of the activity of ${mint}`).toStrictEqual(expected.slice(2, 5));
}

/** Compares every row in whole, read in small pages that do not overlap. */
async function compareRows(get: Get, view: View): Promise<void> {
  const limit = 61;
  const rows: Json[] = [];
  for (;;) {
    const page = await get(`/rankings?sort=newest&limit=${limit}&offset=${rows.length}`);
    rows.push(...(page.items as Json[]));
    expect(page.hasMore, 'hasMore').toBe(rows.length < view.policies.length);
    if (page.hasMore !== true) break;
  }
  const byMint = (a: Json, b: Json) => ((a.mint as string) < (b.mint as string) ? -1 : 1);
  const expected = view.policies.map((policy) => rankingRow(view, policy) as Json).sort(byMint);
  for (const { quoteSymbol, quoteSymbolAbsentReason: reason } of rows)
    expect(typeof reason === 'string', 'a reason where there is no symbol').toBe(quoteSymbol === null);
  const served = rows.map(({ rank: _, quoteSymbolAbsentReason: __, ...row }) => row as Json).sort(byMint);
  expect(served, 'rows of /rankings').toStrictEqual(expected);
}

async function compareOrder(get: Get, query: string, mints: readonly string[]): Promise<void> {
  const served: Json[] = [];
  for (;;) {
    const page = await get(`/rankings?${query}&limit=${PAGE}&offset=${served.length}`);
    served.push(...(page.items as Json[]));
    expect(page.total, `total of ${query}`).toBe(mints.length);
    if (page.hasMore !== true) break;
  }
  const ranks = served.map(({ rank, mint }) => [rank, mint]);
  expect(ranks, `/rankings?${query}`).toStrictEqual(mints.map((mint, at) => [at + 1, mint]));
}
