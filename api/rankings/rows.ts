import { NO_TOTALS } from '../../clickhouse/queries/analytics/policy-totals.ts';
import type { RankedPlace } from '../../clickhouse/queries/ranking/ranking.ts';
import { type Figure, figure } from '../../schemas/figure.ts';
import {
  OWN_KEYS,
  perShownSort,
  perSumSort,
  type RankingRow,
  type Sort,
  SUM_KEYS,
} from '../../schemas/responses/rankings.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadSettings } from '../deps/settings.ts';
import { balanceOf } from '../figures/balances.ts';
import { marketCapOf } from '../figures/market-cap.ts';
import { eventSum, incompleteReason, isOfNothing } from '../figures/missing.ts';
import { modelOf } from '../figures/model.ts';
import { inDollars } from '../figures/price.ts';
import { undatedLately } from '../figures/undated.ts';
import type { PrintedItems } from '../http/answers/printed.ts';
import { tagOf } from '../http/answers/tagged-bytes.ts';
import type { RankedRow } from '../latest/ranked/row.ts';
import type { View } from '../latest/view.ts';
import { factsAt, factsIn, type RowFacts } from './facts.ts';
import { rankedBy, type Unranked } from './ranked-by.ts';
import { type RowContext, rowContexts } from './row-context.ts';
import { createRowTemplates, fillIn, MARK, type TemplatedRow } from './row-templates.ts';

export interface RankingView {
  view: View;
  settings: ReadSettings;
  launchpad: string;
  sort: Sort;
  /** How many policies the orders in memory have; 0 where they are not in memory. */
  rows: number;
  /** To be called where the order from the store's engine does not fit the figures: both are read again. */
  markInconsistent(): void;
}

/** A policy with what its row shows; or, where the store's engine ranks, with the key that it was ranked by. */
export type PlacedPolicy = RankedRow | RankedPlace;

const isTold = (place: PlacedPolicy): place is RankedPlace => 'key' in place;

/** The rows of one page in the order of their places, ranks counted from `firstRank`. */
export function rankingRows(
  ranking: RankingView,
  places: readonly PlacedPolicy[],
  firstRank: number,
): RankingRow[] {
  const { view, settings } = ranking;
  const contextOf = rowContexts(view, settings);
  return places.flatMap((place, at) => {
    if (!isTold(place)) view.use(place);
    const row = rowAt(place, ranking, contextOf, () => view.state().markerTime);
    return row === null ? [] : [{ rank: firstRank + at, ...row }];
  });
}

const templates = createRowTemplates();
/** Up to so many rows, each is kept as printed, 2 kB; more are kept folded, and take three times as long to print. */
const MOST_WHOLE = 16_000;

/** Adds the same rows as they are printed inside of a page, whose head says the first rank. */
export function addPrintedRows(
  ranking: RankingView,
  places: readonly PlacedPolicy[],
  firstRank: number,
  items: PrintedItems,
): void {
  const { view, settings } = ranking;
  const contextOf = rowContexts(view, settings);
  const template = ranking.rows <= MOST_WHOLE ? templates.whole : templates.fold;
  let marker: string | null | undefined;
  const markerTime = () => {
    marker ??= view.state().markerTime;
    return marker;
  };
  // A row of the orders in memory is printed once, and kept.
  const make = (place: RankedRow): KeptRow => {
    const text = printedRow(rowAt(place, ranking, contextOf, () => MARK));
    return { ...template(text), tag: tagOf(text) };
  };
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at] as PlacedPolicy;
    const begin = `    {\n      "rank": ${firstRank + at},`;
    if (isTold(place)) {
      const text = printedRow(rowAt(place, ranking, contextOf, markerTime));
      items.add(begin, text, tagOf(text));
      continue;
    }
    const kept = view.rowPart(place, contextOf(place.quote), () => make(place));
    const mark = kept.marked ? markerTime() : null;
    items.add(begin, fillIn(kept, mark), kept.marked ? `${kept.tag} ${mark}` : kept.tag);
  }
}

interface KeptRow extends TemplatedRow {
  /** The tag of its text as it was printed, before anything was filled in. */
  tag: string;
}

/** A row as it is printed in the list of an answer, after its first field, the rank. */
function printedRow(row: Unranked | null): string {
  const nested = JSON.stringify([[row]], null, 2);
  return nested.slice(NESTED.length, -END.length);
}
const NESTED = '[\n  [\n    {';
const END = '\n  ]\n]';

/** Null where the policy is not there: it is being read, or was closed since the store's engine ranked it. */
function rowAt(
  place: PlacedPolicy,
  ranking: RankingView,
  contextOf: (quoteMint: string) => RowContext,
  markerTime: () => string | null,
): Unranked | null {
  const { view, launchpad, sort } = ranking;
  if (!isTold(place)) return rowOf(factsIn(view, launchpad, place), view, contextOf(place.quote), markerTime);
  const facts = factsAt(view, launchpad, place.address);
  if (facts === null) {
    ranking.markInconsistent();
    return null;
  }
  const row = rowOf(facts, view, contextOf(facts.policy.quote_mint), markerTime);
  if (rankedBy(sort, row, facts.policy) !== place.key) ranking.markInconsistent();
  return row;
}

/**
 * Gets everything that a row is made of from the view, which notes it as what the row depends on.
 * @param markerTime the asOf of a sum of no events
 */
function rowOf(facts: RowFacts, view: View, context: RowContext, markerTime: () => string | null): Unranked {
  const { policy, token, totals = NO_TOTALS, events, pool, poolRow, account } = facts;
  const { quote, historyReason } = context;
  const asOf = timeOf(policy.block_time);
  const own = perShownSort((sort) => {
    const { column } = OWN_KEYS[sort];
    return figure(policy[column], `chain:Policy.${column}`, asOf);
  });
  // Only a sum of no events takes the marker's time: other rows must not depend on it, as it moves with every slot.
  const ageOf = (value: string | number, last: string | null) => ({
    markerTime: isOfNothing(value, last) ? markerTime() : null,
  });
  const sums = perSumSort((sort) => {
    const { kind, amount, column, newest } = SUM_KEYS[sort];
    const reason = historyReason ?? incompleteReason(context, policy.address, `${kind}.${amount}`);
    const [value, last] = [totals[column], totals[newest]];
    return eventSum(ageOf(value, last), reason, value, `indexer:${kind} events`, last);
  });
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
      name: context.origins.find((origin) => origin.address === policy.origin)?.name ?? null,
    },
    model: modelOf(policy, context.models),
    risk: policy.risk,
    locked: policy.locked === 1,
    paused: policy.paused === 1,
    marketCap: marketCapOf(pool, poolRow, quote),
    ...own,
    ...sums,
    burned: figure(policy.tokens_burned, 'chain:Policy.tokens_burned', asOf),
    bankroll,
    usd: {
      ...perShownSort((sort) => inDollars(own[sort], sort, quote)),
      ...perSumSort((sort) => openTime(inDollars(sums[sort], sort, quote), quote.price.observedAt)),
      bankroll: inDollars(bankroll, 'bankroll', quote),
    },
    eventsLast24h: eventSum(
      ageOf(events.count, events.last_time),
      context.dayReason ?? undatedIn(context, view, policy.mint),
      events.count,
      'indexer:events',
      events.last_time,
    ),
    createdAt: timeOf(policy.created_at),
  };
}

/** A dollar figure whose time is still `MARK`: the older of that and the time of its price is filled in later. */
const openTime = (dollars: Figure, observedAt: string | null): Figure =>
  dollars.asOf === MARK && observedAt !== null ? { ...dollars, asOf: MARK + observedAt } : dollars;

const undatedIn = (context: RowContext, { now, expireAt }: View, of: string): string | null =>
  undatedLately({ now, expireAt, state: () => context }, ({ mint }) => mint === of);
