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
import { quoteAt } from '../figures/quotes.ts';
import { ROUTED_SOURCE } from '../figures/sources.ts';
import { undatedLately } from '../figures/undated.ts';
import type { View } from '../latest/view.ts';

export interface RankingView {
  view: View;
  launchpadVenueId: string;
  launchpad: string;
}

/** A row before it is known where it stands. */
type Unranked = Omit<RankingRow, 'rank'>;

/** The rows of one page in the order of `addresses`, ranks counted from `firstRank`. */
export function rankingRows(
  ranking: RankingView,
  addresses: readonly string[],
  firstRank: number,
): RankingRow[] {
  return policiesAt(ranking, addresses).map(({ address }, at) => ({
    rank: firstRank + at,
    ...rowOf(address, ranking),
  }));
}

/** The same as they are printed inside of a page; one that would be printed the same is printed once. */
export function rankingTexts(
  ranking: RankingView,
  addresses: readonly string[],
  firstRank: number,
): string[] {
  const { view, launchpad } = ranking;
  return policiesAt(ranking, addresses).map(({ address }, at) => {
    const text = view.part(`row ${launchpad} ${address}`, () =>
      JSON.stringify(rowOf(address, ranking), null, 2).slice(1).replaceAll('\n', '\n    '),
    );
    return `    {\n      "rank": ${firstRank + at},${text}`;
  });
}

function policiesAt({ view }: RankingView, addresses: readonly string[]): StoredPolicy[] {
  const found = view.rows('policy', addresses);
  return addresses.map((address) => found.get(address)).filter((policy) => policy !== undefined);
}

/** All that it is made of is got from the view here: what stands in its text is noted as what it is made of. */
function rowOf(address: string, { view, launchpadVenueId, launchpad }: RankingView): Unranked {
  const policy = view.get('policy', address) as StoredPolicy;
  const state = view.state();
  const quote = quoteAt(view, launchpadVenueId, policy.quote_mint);
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
      dayReason(view) ?? undatedLately(view, ({ mint }) => mint === policy.mint),
      count.count,
      'indexer:events',
      count.last_time,
    ),
    createdAt: timeOf(policy.created_at),
  };
}
