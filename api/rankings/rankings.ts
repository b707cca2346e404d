import type { IncompleteState } from '../../clickhouse/queries/progress/index-state.ts';
import {
  type QuoteRate,
  type RankingSelection,
  writeSelection,
} from '../../clickhouse/queries/ranking/ranking.ts';
import { lacks } from '../../schemas/incomplete.ts';
import {
  perSumSort,
  type RankingsResponse,
  SUM_KEYS,
  type SumSort,
} from '../../schemas/responses/rankings.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { dayReason } from '../figures/missing.ts';
import { rateOf } from '../figures/price.ts';
import { quotesAt } from '../figures/quotes.ts';
import { lastDay, nextSecond } from '../figures/times.ts';
import { undatedMints } from '../figures/undated.ts';
import { unknownPoliciesReason } from '../figures/unknown-policies.ts';
import { type PrintedItems, printedAnswer } from '../http/answers/printed.ts';
import type { RouteReply, SharedContext } from '../http/route.ts';
import { pageKey } from '../latest/kinds/kind.ts';
import type { RankedSelection } from '../latest/ranked/ranking.ts';
import type { RankedOrders, View } from '../latest/view.ts';
import { type RankingParameters, readRankingParameters } from './parameters.ts';
import { addPrintedRows, type PlacedPolicy, type RankingView, rankingRows } from './rows.ts';

/** `GET /rankings` */
export function rankings(view: View, settings: ReadSettings, context: SharedContext): RouteReply {
  const request = readRankingParameters(context.query);
  if ('error' in request) return { status: 400, body: request };
  const { head, ranking, places } = pageOf(view, settings, request);
  const add = (items: PrintedItems) => addPrintedRows(ranking, places, request.offset + 1, items);
  return { status: 200, body: printedAnswer(head, 'items', add) };
}

/** The same page as a value. @throws RangeError where the query is not valid */
export function rankingPage(view: View, settings: ReadSettings, query: URLSearchParams): RankingsResponse {
  const request = readRankingParameters(query);
  if ('error' in request) throw new RangeError(request.error);
  const { head, ranking, places } = pageOf(view, settings, request);
  return { ...head, items: rankingRows(ranking, places, request.offset + 1) };
}

type Head = Omit<RankingsResponse, 'items'>;

function pageOf(
  view: View,
  settings: ReadSettings,
  request: RankingParameters,
): { head: Head; ranking: RankingView; places: readonly PlacedPolicy[] } {
  const { sort, order, limit, offset, filters } = request;
  const launchpad = view.single('config')?.launchpad_program ?? settings.launchpadProgramId;
  const ranked = view.ranked({ launchpad });
  const selection: RankingSelection = {
    ...{ sort, order, limit, offset, ...filters, launchpad },
    rates: ratesOf(view, settings, launchpad),
    window: sort === 'activity' && dayReason(view) === null ? lastDay(view.now) : null,
    undated: sort === 'activity' ? undatedMints(view) : [],
    sumsKnown: view.state().historyReason === null,
  };
  const { total, places, markInconsistent } =
    ranked === 'engine'
      ? selectedBy(view, selection)
      : selectedIn(view, ranked, { ...selection, withoutSum: withoutSum(view) });
  const hasMore = offset + places.length < total;
  const unlisted = unknownPoliciesReason(view);
  const known = unlisted === null ? { total } : { total: null, totalAbsentReason: unlisted };
  const head = { sort, order, limit, offset, ...known, hasMore, filters };
  const rows = ranked === null || ranked === 'engine' ? 0 : ranked.size();
  return { head, ranking: { view, settings, launchpad, sort, rows, markInconsistent }, places };
}

type Selected = Pick<RankingView, 'markInconsistent'> & { total: number; places: readonly PlacedPolicy[] };

function selectedBy(view: View, selection: RankingSelection): Selected {
  const key = pageKey(writeSelection(selection));
  const { total, places } = view.get('ranked', key);
  // An event of a policy that is not on the page may leave the window too, and change the order.
  if (selection.window !== null) view.expireAt(nextSecond(view.now));
  return { total, places, markInconsistent: () => view.markInconsistent('ranked', key) };
}

/** @param orders null where they are not loaded yet: the answer is made again once they are */
function selectedIn(view: View, orders: RankedOrders | null, selection: RankedSelection): Selected {
  const markInconsistent = () => {};
  if (orders === null) return { total: 0, places: [], markInconsistent };
  const { total, rows, sources } = orders.page(selection);
  for (const source of sources) view.use(source);
  if (selection.sort === 'activity') view.expireAt(orders.until());
  return { total, places: rows, markInconsistent };
}

/** What each quote asset is worth, where that is known. */
function ratesOf(view: View, settings: ReadSettings, launchpad: string): QuoteRate[] {
  return view.part(`rates ${launchpad}`, () => {
    const ranked = view.ranked({ launchpad });
    const mints = ranked === 'engine' ? view.single('quotesInUse') : (ranked?.quotes() ?? []);
    return [...quotesAt(view, settings, mints).values()]
      .map((quote) => rateOf(quote.mint, quote.decimals, quote.price))
      .filter((rate) => rate !== null);
  });
}

const known = new WeakMap<IncompleteState['policies'], RankedSelection['withoutSum']>();

/**
 * Policies whose sum is not known, as a transaction of theirs may lack a part of it; the same sets for the same state.
 */
function withoutSum(view: View): RankedSelection['withoutSum'] {
  const { policies } = view.state().incomplete;
  const lacking = ({ kind, amount }: (typeof SUM_KEYS)[SumSort]) =>
    policies.filter(([, missing]) => lacks([missing], `${kind}.${amount}`)).map(([policy]) => policy);
  const found = known.get(policies) ?? perSumSort((sort) => new Set(lacking(SUM_KEYS[sort])));
  known.set(policies, found);
  return found;
}
