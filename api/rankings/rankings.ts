import type { Store } from '../../clickhouse/client.ts';
import { quotesInUse } from '../../clickhouse/queries/analytics-totals.ts';
import { protocolConfig } from '../../clickhouse/queries/protocol-config.ts';
import { rankedPolicies } from '../../clickhouse/queries/ranking.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import { dayReason } from '../figures/missing.ts';
import { rateOf } from '../figures/price.ts';
import { loadQuotes } from '../figures/quotes.ts';
import { lastDay } from '../figures/times.ts';
import type { RouteContext, RouteReply } from '../http/route.ts';
import type { IndexState } from '../latest/index-state.ts';
import type { ReadDeps } from '../latest/read-deps.ts';
import { type RankingParameters, readRankingParameters } from './parameters.ts';
import { rankingRows } from './rows.ts';

/** `GET /rankings` */
export async function rankings(deps: ReadDeps, context: RouteContext): Promise<RouteReply> {
  const request = readRankingParameters(context.query);
  if ('error' in request) return { status: 400, body: request };
  const store = deps.currentStore();
  const body = await deps.index.readAsOne(store, (state) => page(state, request, store, deps, context.now));
  return { status: 200, body };
}

async function page(
  state: IndexState,
  request: RankingParameters,
  store: Store,
  deps: ReadDeps,
  now: number,
): Promise<RankingsResponse> {
  const [config, quoteMints] = await Promise.all([protocolConfig(store), quotesInUse(store)]);
  const quotes = await loadQuotes(store, deps.settings.launchpadVenueId, quoteMints, now);
  const launchpad = config?.launchpad_program ?? deps.settings.launchpadProgramId;
  const { sort, order, limit, offset, filters } = request;
  const { total, addresses } = await rankedPolicies(store, {
    sort,
    order,
    limit,
    offset,
    ...filters,
    launchpad,
    rates: [...quotes.values()]
      .map((quote) => rateOf(quote.mint, quote.decimals, quote.price))
      .filter((rate) => rate !== null),
    window: dayReason(state, now) === null ? lastDay(now) : null,
    sumsKnown: state.historyReason === null,
  });
  return {
    sort,
    order,
    limit,
    offset,
    total,
    hasMore: offset + addresses.length < total,
    filters,
    items: await rankingRows({ store, state, quotes, launchpad, now }, addresses, offset + 1),
  };
}
