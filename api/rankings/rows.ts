import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import { figure } from '../../schemas/figure.ts';
import { OWN_KEYS, ofShown, type RankingRow } from '../../schemas/responses/rankings.ts';
import { timeOf } from '../../schemas/units.ts';
import { balanceOf } from '../figures/balances.ts';
import { marketCapOf, poolOf } from '../figures/market-cap.ts';
import { dayReason, eventSum, incompleteReason } from '../figures/missing.ts';
import { modelOf } from '../figures/model.ts';
import { inDollars } from '../figures/price.ts';
import type { Quote } from '../figures/quotes.ts';
import { ROUTED_SOURCE } from '../figures/sources.ts';
import { undatedLately } from '../figures/undated.ts';
import type { View } from '../latest/view.ts';

export interface RankingView {
  view: View;
  quotes: ReadonlyMap<string, Quote>;
  launchpad: string;
}

/** The rows of one page in the order of `addresses`, ranks counted from `firstRank`. */
export function rankingRows(
  ranking: RankingView,
  addresses: readonly string[],
  firstRank: number,
): RankingRow[] {
  const found = ranking.view.rows('policy', addresses);
  const policies = addresses.map((address) => found.get(address)).filter((policy) => policy !== undefined);
  const reason = policies.length === 0 ? null : dayReason(ranking.view);
  return policies.map((policy, index) => rowOf(policy, firstRank + index, reason, ranking));
}

function rowOf(
  policy: StoredPolicy,
  rank: number,
  dayUncovered: string | null,
  { view, quotes, launchpad }: RankingView,
): RankingRow {
  const state = view.state();
  const quote = quotes.get(policy.quote_mint) ?? NO_QUOTE;
  const token = view.get('mint', policy.mint);
  const totals = view.get('totals', policy.mint) ?? NO_TOTALS;
  const count = view.get('eventsOfDay', policy.mint);
  const pool = poolOf(launchpad, policy.mint, policy.quote_mint);
  const asOf = timeOf(policy.block_time);
  const own = ofShown((sort) => {
    const { column } = OWN_KEYS[sort];
    return figure(policy[column], `chain:Policy.${column}`, asOf);
  });
  const reason = state.historyReason ?? incompleteReason(state, policy.address, 'Routed.amount');
  const fees = eventSum(state, reason, totals.routed, ROUTED_SOURCE, totals.last_routed);
  const bankroll = balanceOf(policy.bankroll, view.get('tokenAccount', policy.bankroll));
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
      name: view.one('origins').find((origin) => origin.address === policy.origin)?.name ?? null,
    },
    model: modelOf(policy, view.one('models')),
    risk: policy.risk,
    locked: policy.locked === 1,
    paused: policy.paused === 1,
    marketCap: marketCapOf(pool, view.get('pool', pool), quote),
    ...own,
    fees,
    burned: figure(policy.tokens_burned, 'chain:Policy.tokens_burned', asOf),
    bankroll,
    usd: {
      ...ofShown((sort) => inDollars(own[sort], sort, quote)),
      fees: inDollars(fees, 'fees', quote),
      bankroll: inDollars(bankroll, 'bankroll', quote),
    },
    eventsLast24h: eventSum(
      state,
      dayUncovered ?? undatedLately(view, ({ mint }) => mint === policy.mint),
      count.count,
      'indexer:events',
      count.last_time,
    ),
    createdAt: timeOf(policy.created_at),
  };
}

/** Stands in for the quote of a policy that appeared between two reads of one answer. */
const NO_QUOTE: Pick<Quote, 'view' | 'decimals' | 'price'> = {
  decimals: null,
  price: { usd: null, observedAt: null, source: null, reason: 'the quote asset is not read yet' },
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
