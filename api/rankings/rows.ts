import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import type { RankedPlace } from '../../clickhouse/queries/ranking/ranking.ts';
import { figure } from '../../schemas/figure.ts';
import { OWN_KEYS, ofShown, type RankingRow, type Sort } from '../../schemas/responses/rankings.ts';
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
import { rankedBy, type Unranked } from './ranked-by.ts';

export interface RankingView {
  view: View;
  launchpadVenueId: string;
  launchpad: string;
  sort: Sort;
  /** Whether there is room for all rows as they are printed: one that would be printed the same is printed once then. */
  keepsRows: boolean;
  /** The order that the engine told is not that of the figures: both are read again. */
  misfit(): void;
}

/** A policy with what its row shows, or what it was ranked by where the engine says the order. */
export type Place = RankedRow | RankedPlace;

const isTold = (place: Place): place is RankedPlace => 'key' in place;

/** The rows of one page in the order of their places, ranks counted from `firstRank`. */
export function rankingRows(ranking: RankingView, places: readonly Place[], firstRank: number): RankingRow[] {
  const around = aroundOf(ranking.view, ranking.launchpadVenueId);
  return places.flatMap((place, at) => {
    const row = rowAt(place, ranking, around);
    return row === null ? [] : [{ rank: firstRank + at, ...row }];
  });
}

/** The same in pieces, as they are printed inside of a page. */
export function rankingTexts(ranking: RankingView, places: readonly Place[], firstRank: number): string[] {
  const { view, launchpad, launchpadVenueId, keepsRows } = ranking;
  // A row that is kept by itself is made of all that it is made of.
  const shared = keepsRows ? null : aroundOf(view, launchpadVenueId);
  return places.flatMap((place, at) => {
    const print = () => printedRow(rowAt(place, ranking, shared ?? aroundOf(view, launchpadVenueId)));
    const text = keepsRows ? view.part(`row ${launchpad} ${place.address}`, print) : print();
    return [`${at === 0 ? '' : ',\n'}    {\n      "rank": ${firstRank + at},`, text];
  });
}

/** As it stands in a list of an answer, behind its first field. */
function printedRow(row: Unranked | null): string {
  const nested = JSON.stringify([[row]], null, 2);
  return nested.slice(NESTED.length, -END.length);
}
const NESTED = '[\n  [\n    {';
const END = '\n  ]\n]';

/** Null where the policy is not there: it is being read, or it ended since the engine was asked. */
function rowAt(place: Place, ranking: RankingView, around: Around): Unranked | null {
  const { view, launchpad, sort } = ranking;
  if (!isTold(place)) return rowOf(factsOf(view, launchpad, place), view, around);
  const facts = factsAt(view, launchpad, place.address);
  if (facts === null) {
    ranking.misfit();
    return null;
  }
  const row = rowOf(facts, view, around);
  if (rankedBy(sort, row, facts.policy) !== place.key) ranking.misfit();
  return row;
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
