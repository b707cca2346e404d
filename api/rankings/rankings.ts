import { writeSelection } from '../../clickhouse/queries/ranking.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import { dayReason } from '../figures/missing.ts';
import { rateOf } from '../figures/price.ts';
import { quotesAt } from '../figures/quotes.ts';
import { lastDay } from '../figures/times.ts';
import type { RouteReply, SharedContext } from '../http/route.ts';
import { pageKey } from '../latest/kind.ts';
import type { ReadSettings } from '../latest/read-deps.ts';
import type { View } from '../latest/view.ts';
import { type RankingParameters, readRankingParameters } from './parameters.ts';
import { rankingRows } from './rows.ts';

/** `GET /rankings` */
export function rankings(view: View, settings: ReadSettings, context: SharedContext): RouteReply {
  const request = readRankingParameters(context.query);
  if ('error' in request) return { status: 400, body: request };
  return { status: 200, body: page(view, settings, request) };
}

function page(view: View, settings: ReadSettings, request: RankingParameters): RankingsResponse {
  const launchpad = view.one('config')?.launchpad_program ?? settings.launchpadProgramId;
  const quotes = quotesAt(view, settings.launchpadVenueId, view.one('quotesInUse'));
  const { sort, order, limit, offset, filters } = request;
  const selection = {
    ...{ sort, order, limit, offset, ...filters, launchpad },
    rates: [...quotes.values()]
      .map((quote) => rateOf(quote.mint, quote.decimals, quote.price))
      .filter((rate) => rate !== null),
    window: sort === 'activity' && dayReason(view) === null ? lastDay(view.now) : null,
    sumsKnown: view.state().historyReason === null,
  };
  const { total, addresses } = view.get('ranked', pageKey(writeSelection(selection)));
  return {
    sort,
    order,
    limit,
    offset,
    total,
    hasMore: offset + addresses.length < total,
    filters,
    items: rankingRows({ view, quotes, launchpad }, addresses, offset + 1),
  };
}
