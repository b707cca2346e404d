import {
  type RankedPage,
  type RankingSelection,
  writeSelection,
} from '../../clickhouse/queries/ranking/ranking.ts';
import { lacks } from '../../schemas/lacks.ts';
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

const NONE: RankedPage = { total: 0, addresses: [] };

/** `GET /rankings` */
export function rankings(view: View, settings: ReadSettings, context: SharedContext): RouteReply {
  const request = readRankingParameters(context.query);
  if ('error' in request) return { status: 400, body: request };
  return { status: 200, body: page(view, settings, request) };
}

function page(view: View, settings: ReadSettings, request: RankingParameters): RankingsResponse {
  const { sort, order, limit, offset, filters } = request;
  const launchpad = view.one('config')?.launchpad_program ?? settings.launchpadProgramId;
  const ranked = view.ranked({ launchpad, events: sort === 'activity' });
  const mints = ranked === 'engine' ? view.one('quotesInUse') : (ranked?.quotes() ?? []);
  const quotes = quotesAt(view, settings.launchpadVenueId, mints);
  const selection: RankingSelection = {
    ...{ sort, order, limit, offset, ...filters, launchpad },
    rates: [...quotes.values()]
      .map((quote) => rateOf(quote.mint, quote.decimals, quote.price))
      .filter((rate) => rate !== null),
    window: sort === 'activity' && dayReason(view) === null ? lastDay(view.now) : null,
    sumsKnown: view.state().historyReason === null,
  };
  const { total, addresses } =
    ranked === 'engine'
      ? view.get('ranked', pageKey(writeSelection(selection)))
      : (ranked?.page({ ...selection, withoutFees: withoutFees(view) }) ?? NONE);
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

/** Policies whose fees cannot be told: a transaction of theirs may lack some. */
function withoutFees(view: View): ReadonlySet<string> {
  const { policies } = view.state().incomplete;
  return new Set(
    policies.filter(([, missing]) => lacks([missing], 'Routed.amount')).map(([policy]) => policy),
  );
}
