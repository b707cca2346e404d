import type { Store } from '../../clickhouse/client.ts';
import { type EventCountRow, eventsBetween } from '../../clickhouse/queries/events-between.ts';
import { type MintRow, mintsAt } from '../../clickhouse/queries/mints.ts';
import { policiesAt, type StoredPolicy } from '../../clickhouse/queries/policy.ts';
import { NO_TOTALS, type PolicyTotalsRow, policyTotals } from '../../clickhouse/queries/policy-totals.ts';
import { type PoolRow, poolsAt } from '../../clickhouse/queries/pools.ts';
import { type ModelRow, models, type OriginRow, origins } from '../../clickhouse/queries/registries.ts';
import { type TokenAccountRow, tokenAccountsAt } from '../../clickhouse/queries/token-accounts.ts';
import { figure } from '../../schemas/figure.ts';
import type { RankingRow } from '../../schemas/responses/rankings.ts';
import { timeOf } from '../../schemas/units.ts';
import { balanceOf } from '../figures/balances.ts';
import { marketCapOf, poolOf } from '../figures/market-cap.ts';
import { dayReason, eventSum, incompleteReason } from '../figures/missing.ts';
import { modelOf } from '../figures/model.ts';
import { inDollars } from '../figures/price.ts';
import type { Quote } from '../figures/quotes.ts';
import { ROUTED_SOURCE } from '../figures/sources.ts';
import { lastDay } from '../figures/times.ts';
import type { IndexState } from '../latest/index-state.ts';

export interface RankingView {
  store: Store;
  state: IndexState;
  quotes: ReadonlyMap<string, Quote>;
  launchpad: string;
  now: number;
}

interface Page {
  origins: readonly OriginRow[];
  models: readonly ModelRow[];
  mints: ReadonlyMap<string, MintRow>;
  pools: ReadonlyMap<string, PoolRow>;
  balances: ReadonlyMap<string, TokenAccountRow>;
  totals: ReadonlyMap<string, PolicyTotalsRow>;
  counts: ReadonlyMap<string, EventCountRow>;
}

/** The rows of one page in the order of `addresses`, ranks counted from `firstRank`. */
export async function rankingRows(
  view: RankingView,
  addresses: readonly string[],
  firstRank: number,
): Promise<RankingRow[]> {
  if (addresses.length === 0) return [];
  const found = await policiesAt(view.store, addresses);
  const policies = addresses.map((address) => found.get(address)).filter((policy) => policy !== undefined);
  const page = await loadPage(view, policies);
  return policies.map((policy, index) => rowOf(policy, firstRank + index, page, view));
}

async function loadPage(
  { store, launchpad, now }: RankingView,
  policies: readonly StoredPolicy[],
): Promise<Page> {
  const mintKeys = policies.map((policy) => policy.mint);
  const { after, until } = lastDay(now);
  const [originRows, modelRows, mintRows, pools, balances, totals, counts] = await Promise.all([
    origins(store),
    models(store),
    mintsAt(store, mintKeys),
    poolsAt(
      store,
      policies.map((policy) => poolOf(launchpad, policy.mint, policy.quote_mint)),
    ),
    tokenAccountsAt(
      store,
      policies.map((policy) => policy.bankroll),
    ),
    policyTotals(store, mintKeys),
    eventsBetween(store, mintKeys, after, until),
  ]);
  return { origins: originRows, models: modelRows, mints: mintRows, pools, balances, totals, counts };
}

function rowOf(policy: StoredPolicy, rank: number, page: Page, view: RankingView): RankingRow {
  const { state } = view;
  const quote = view.quotes.get(policy.quote_mint) ?? NO_QUOTE;
  const token = page.mints.get(policy.mint);
  const totals = page.totals.get(policy.mint) ?? NO_TOTALS;
  const count = page.counts.get(policy.mint);
  const pool = poolOf(view.launchpad, policy.mint, policy.quote_mint);
  const asOf = timeOf(policy.block_time);
  const profit = figure(policy.profit_swept, 'chain:Policy.profit_swept', asOf);
  const reason = state.historyReason ?? incompleteReason(state, policy.address);
  const fees = eventSum(state, reason, totals.routed, ROUTED_SOURCE, totals.last_routed);
  const bankroll = balanceOf(policy.bankroll, page.balances.get(policy.bankroll));
  const { symbol, symbolSource, symbolAbsentReason } = quote.view;
  return {
    rank,
    mint: policy.mint,
    mintName: token?.name ?? null,
    mintSymbol: token?.symbol ?? null,
    mintImageUrl: token?.image_url ?? null,
    quoteMint: policy.quote_mint,
    quoteSymbol: symbol,
    quoteSymbolSource: symbolSource,
    ...(symbolAbsentReason === undefined ? {} : { quoteSymbolAbsentReason: symbolAbsentReason }),
    quoteDecimals: quote.decimals,
    mode: policy.mode,
    origin: {
      id: policy.origin_id,
      name: page.origins.find((origin) => origin.address === policy.origin)?.name ?? null,
    },
    model: modelOf(policy, page.models),
    risk: policy.risk,
    locked: policy.locked === 1,
    paused: policy.paused === 1,
    marketCap: marketCapOf(pool, page.pools.get(pool), quote),
    profit,
    fees,
    burned: figure(policy.tokens_burned, 'chain:Policy.tokens_burned', asOf),
    bankroll,
    usd: {
      profit: inDollars(profit, 'profit', quote),
      fees: inDollars(fees, 'fees', quote),
      bankroll: inDollars(bankroll, 'bankroll', quote),
    },
    eventsLast24h: eventSum(
      state,
      dayReason(state, view.now),
      count?.count ?? 0,
      'indexer:events',
      count?.last_time ?? null,
    ),
    createdAt: timeOf(policy.created_at),
  };
}

/** Stands in for the quote of a policy that appeared between two reads of one answer. */
const NO_QUOTE: Pick<Quote, 'view' | 'decimals' | 'price'> = {
  decimals: null,
  price: { usd: null, observedAt: null, reason: 'the quote asset is not read yet' },
  view: {
    symbol: null,
    name: null,
    decimals: null,
    symbolSource: null,
    symbolAbsentReason: 'the quote asset is not read yet',
    iconUrl: null,
    iconSource: null,
    priceUsd: null,
    priceObservedAt: null,
  },
};
