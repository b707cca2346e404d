import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import { figure } from '../../schemas/figure.ts';
import { OWN_KEYS, ofShown, type RankingRow } from '../../schemas/responses/rankings.ts';
import { timeOf } from '../../schemas/units.ts';
import { balanceOf } from '../figures/balances.ts';
import { marketCapOf } from '../figures/market-cap.ts';
import { eventSum, incompleteReason } from '../figures/missing.ts';
import { modelOf } from '../figures/model.ts';
import { inDollars } from '../figures/price.ts';
import { ROUTED_SOURCE } from '../figures/sources.ts';
import { undatedLately } from '../figures/undated.ts';
import type { RankedRow } from '../latest/ranked/row.ts';
import type { View } from '../latest/view.ts';
import { type Around, aroundOf } from './around.ts';
import { factsAt, factsOf, type RowFacts } from './facts.ts';

export interface RankingView {
  view: View;
  launchpadVenueId: string;
  launchpad: string;
  /** Whether there is room for all rows as they are printed: one that would be printed the same is printed once then. */
  keepsRows: boolean;
}

/** A row before it is known where it stands. */
type Unranked = Omit<RankingRow, 'rank'>;

/** A policy with what its row shows, or its address where the engine says the order. */
export type Place = RankedRow | string;

/** The rows of one page in the order of their places, ranks counted from `firstRank`. */
export function rankingRows(ranking: RankingView, places: readonly Place[], firstRank: number): RankingRow[] {
  const around = aroundOf(ranking.view, ranking.launchpadVenueId);
  return known(ranking, places).map((place, at) => ({
    rank: firstRank + at,
    ...rowAt(place, ranking, around),
  }));
}

/** The same in pieces, as they are printed inside of a page. */
export function rankingTexts(ranking: RankingView, places: readonly Place[], firstRank: number): string[] {
  const { view, launchpad, launchpadVenueId, keepsRows } = ranking;
  // A row that is kept by itself is made of all that it is made of.
  const shared = keepsRows ? null : aroundOf(view, launchpadVenueId);
  return known(ranking, places).flatMap((place, at) => {
    const address = typeof place === 'string' ? place : place.address;
    const print = () => printedRow(rowAt(place, ranking, shared ?? aroundOf(view, launchpadVenueId)));
    const text = keepsRows ? view.part(`row ${launchpad} ${address}`, print) : print();
    return [`${at === 0 ? '' : ',\n'}    {\n      "rank": ${firstRank + at},`, text];
  });
}

/** As it stands in a list of an answer, behind its first field. */
function printedRow(row: Unranked): string {
  const nested = JSON.stringify([[row]], null, 2);
  return nested.slice(NESTED.length, -END.length);
}
const NESTED = '[\n  [\n    {';
const END = '\n  ]\n]';

/** Without policies that ended since the engine was asked. */
function known({ view }: RankingView, places: readonly Place[]): readonly Place[] {
  const addresses = places.filter((place) => typeof place === 'string');
  if (addresses.length === 0) return places;
  const found = view.rows('policy', addresses);
  return addresses.filter((address) => found.has(address));
}

function rowAt(place: Place, { view, launchpad }: RankingView, around: Around): Unranked {
  if (typeof place !== 'string') return rowOf(factsOf(view, launchpad, place), view, around);
  return rowOf(factsAt(view, launchpad, place) as RowFacts, view, around);
}

/** All that it is made of is got from the view here: what stands in its text is noted as what it is made of. */
function rowOf(facts: RowFacts, view: View, around: Around): Unranked {
  const { policy, token, totals = NO_TOTALS, events, pool, poolRow, account } = facts;
  const { state } = around;
  const quote = around.quote(policy.quote_mint);
  const asOf = timeOf(policy.block_time);
  const own = ofShown((sort) => {
    const { column } = OWN_KEYS[sort];
    return figure(policy[column], `chain:Policy.${column}`, asOf);
  });
  const reason = state.historyReason ?? incompleteReason(state, policy.address, 'Routed.amount');
  const fees = eventSum(state, reason, totals.routed, ROUTED_SOURCE, totals.last_routed);
  const bankroll = balanceOf(policy.bankroll, account);
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
      name: around.origins.find((origin) => origin.address === policy.origin)?.name ?? null,
    },
    model: modelOf(policy, around.models),
    risk: policy.risk,
    locked: policy.locked === 1,
    paused: policy.paused === 1,
    marketCap: marketCapOf(pool, poolRow, quote),
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
      around.dayReason ?? undatedLately(view, ({ mint }) => mint === policy.mint),
      events.count,
      'indexer:events',
      events.last_time,
    ),
    createdAt: timeOf(policy.created_at),
  };
}
