import type { QuoteHourSums } from '../../../clickhouse/queries/history/event-sums.ts';
import type { ProtocolHistoryRows } from '../../../clickhouse/queries/history/protocol.ts';
import type { QuoteSumsAt, QuoteSumsNow } from '../../../clickhouse/queries/history/quote-sums.ts';
import {
  type FirstSlots,
  firstSlots,
  type StreamCover,
} from '../../../clickhouse/queries/history/stream-cover.ts';
import type { Figure } from '../../../schemas/figure.ts';
import type { ProtocolHistoryResponse, QuoteHistory } from '../../../schemas/responses/history.ts';
import { HOUR_S, isoTime } from '../../../schemas/units.ts';
import type { ReadSettings } from '../../deps/settings.ts';
import { anyIncompleteFrom } from '../../figures/missing.ts';
import { type NamedQuote, quoteNameAt } from '../../figures/quotes.ts';
import { absentWhere, unknownPoliciesReason } from '../../figures/unknown-policies.ts';
import { pageKey } from '../../latest/kinds/kind.ts';
import type { View } from '../../latest/view.ts';
import type { Block } from '../blocks.ts';
import { type Counter, countersAtEnds } from '../counters.ts';
import type { BegunAt } from './policies-begun.ts';
import { NO_SUMS, quoteSums } from './quote-sums.ts';

/** Steps of a block, and what is known of them. */
export interface ProtocolSteps extends ProtocolHistoryRows {
  block: Block;
  /** Hours between two ends. */
  each: number;
  passed: number;
  ends: readonly number[];
  begun: BegunAt;
}

/** The same from events; null where there is nothing else than states. */
export type Either = (counter: Counter) => Figure | null;

export type QuoteAt = (
  mint: string,
  policies: number,
  sums: QuoteSumsAt | QuoteSumsNow,
  either: Either,
) => QuoteHistory;

export function protocolItems(
  view: View,
  settings: ReadSettings,
  { block, each, passed, ends, begun, sums, cover }: ProtocolSteps,
): ProtocolHistoryResponse['items'] {
  const [first = 0, last = 0] = [ends[0], ends.at(-1)];
  const stepOf = (end: number) => (end - block.first) / each + 1;
  const own = sums.filter(({ step }) => step >= stepOf(first) && step <= stepOf(last));
  const byStep = Map.groupBy(own, ({ step }) => step);
  const quoteAt = createQuoteAt(view, settings);
  const fromEvents = createFromEvents(view, beginsOf(cover), block, each);
  return ends.map((end, at) => {
    const rows = new Map((byStep.get(stepOf(end)) ?? []).map((row) => [row.quote_mint, row]));
    const byQuote = begun.policies
      .map(({ mint, counts }) => ({ mint, policies: counts[at] ?? 0 }))
      .filter(({ policies }) => policies > 0)
      .map(({ mint, policies }) =>
        quoteAt(mint, policies, rows.get(mint) ?? NO_SUMS, (counter) =>
          end > passed ? null : fromEvents(counter, mint, end),
        ),
      );
    return { time: isoTime(end * HOUR_S), byQuote };
  });
}

/** The same for all steps of a block. */
const begins = new WeakMap<StreamCover, FirstSlots>();

function beginsOf(cover: StreamCover): FirstSlots {
  const known = begins.get(cover) ?? firstSlots(cover);
  begins.set(cover, known);
  return known;
}

/** What is looked up for a quote asset, and for all of them, is looked up once. */
export function createQuoteAt(view: View, { launchpadVenueId }: ReadSettings): QuoteAt {
  const known = new Map<string, NamedQuote>();
  const quoteOf = (mint: string): NamedQuote => {
    const quote = known.get(mint) ?? quoteNameAt(view, launchpadVenueId, mint);
    known.set(mint, quote);
    return quote;
  };
  const unlisted = unknownPoliciesReason(view);
  return (mint, policies, sums, either) => {
    const quote = quoteOf(mint);
    return {
      quoteMint: mint,
      quoteSymbol: quote.symbol,
      decimals: quote.decimals,
      policyCount: unlisted === null ? policies : null,
      ...absentWhere(unlisted, quoteSums(sums, policies, either)),
    };
  };
}

/** Sums of events, asked for once somebody wants one. */
function createFromEvents(view: View, begins: (end: number) => bigint | null, block: Block, each: number) {
  const state = view.state();
  const key = pageKey('', Math.max(0, block.first - 1), block.first + (block.passed - 1) * each);
  let rows: Map<string, QuoteHourSums[]> | undefined;
  const rowsOf = (mint: string): QuoteHourSums[] => {
    rows ??= Map.groupBy(view.get('protocolEvents', key), ({ quote_mint }) => quote_mint);
    return rows.get(mint) ?? [];
  };
  const ofMint = new Map<string, ReturnType<typeof countersAtEnds>>();
  return (counter: Counter, mint: string, end: number): Figure => {
    const fromEvents =
      ofMint.get(mint) ??
      countersAtEnds({
        state,
        sums: rowsOf(mint),
        incomplete: (amount) => anyIncompleteFrom(state, amount),
        concerns: ({ quote_mint }) => quote_mint === mint,
      });
    ofMint.set(mint, fromEvents);
    return fromEvents(counter, end, begins(end));
  };
}
