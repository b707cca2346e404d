import {
  type QuoteRate,
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
import { undatedMints } from '../figures/undated.ts';
import { printedAnswer } from '../http/answers/printed.ts';
import type { RouteReply, SharedContext } from '../http/route.ts';
import { pageKey } from '../latest/kind.ts';
import type { ReadSettings } from '../latest/read-deps.ts';
import type { View } from '../latest/view.ts';
import { type RankingParameters, readRankingParameters } from './parameters.ts';
import { type RankingView, rankingRows, rankingTexts } from './rows.ts';

const NONE: RankedPage = { total: 0, addresses: [] };

/** `GET /rankings` */
export function rankings(view: View, settings: ReadSettings, context: SharedContext): RouteReply {
  const request = readRankingParameters(context.query);
  if ('error' in request) return { status: 400, body: request };
  const { head, ranking, addresses } = pageOf(view, settings, request);
  const items = rankingTexts(ranking, addresses, request.offset + 1).join(',\n');
  return { status: 200, body: printedAnswer(head, 'items', items) };
}

/** The same page as a value. @throws RangeError where the query says nothing that is valid */
export function rankingPage(view: View, settings: ReadSettings, query: URLSearchParams): RankingsResponse {
  const request = readRankingParameters(query);
  if ('error' in request) throw new RangeError(request.error);
  const { head, ranking, addresses } = pageOf(view, settings, request);
  return { ...head, items: rankingRows(ranking, addresses, request.offset + 1) };
}

type Head = Omit<RankingsResponse, 'items'>;

function pageOf(
  view: View,
  settings: ReadSettings,
  request: RankingParameters,
): { head: Head; ranking: RankingView; addresses: readonly string[] } {
  const { sort, order, limit, offset, filters } = request;
  const { launchpadVenueId } = settings;
  const launchpad = view.one('config')?.launchpad_program ?? settings.launchpadProgramId;
  const ranked = view.ranked({ launchpad, events: sort === 'activity' });
  const selection: RankingSelection = {
    ...{ sort, order, limit, offset, ...filters, launchpad },
    rates: ratesOf(view, launchpadVenueId, launchpad),
    window: sort === 'activity' && dayReason(view) === null ? lastDay(view.now) : null,
    undated: sort === 'activity' ? undatedMints(view) : [],
    sumsKnown: view.state().historyReason === null,
  };
  const { total, addresses } =
    ranked === 'engine'
      ? view.get('ranked', pageKey(writeSelection(selection)))
      : (ranked?.page({ ...selection, withoutFees: withoutFees(view) }) ?? NONE);
  const hasMore = offset + addresses.length < total;
  const head = { sort, order, limit, offset, total, hasMore, filters };
  return { head, ranking: { view, launchpadVenueId, launchpad }, addresses };
}

/** What each quote asset is worth, where that is known. */
function ratesOf(view: View, launchpadVenueId: string, launchpad: string): QuoteRate[] {
  return view.part(`rates ${launchpad}`, () => {
    const ranked = view.ranked({ launchpad, events: false });
    const mints = ranked === 'engine' ? view.one('quotesInUse') : (ranked?.quotes() ?? []);
    return [...quotesAt(view, launchpadVenueId, mints).values()]
      .map((quote) => rateOf(quote.mint, quote.decimals, quote.price))
      .filter((rate) => rate !== null);
  });
}

/** Policies whose fees cannot be told: a transaction of theirs may lack some. */
function withoutFees(view: View): ReadonlySet<string> {
  const { policies } = view.state().incomplete;
  return new Set(
    policies.filter(([, missing]) => lacks([missing], 'Routed.amount')).map(([policy]) => policy),
  );
}
