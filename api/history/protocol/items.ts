import type { HourSums, QuoteStepSums } from '../../../clickhouse/queries/history/event-sums.ts';
import { unfoldSums } from '../../../clickhouse/queries/history/folded-sums.ts';
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
import { type Amount, anyIncompleteFrom, type IncompleteFrom } from '../../figures/missing.ts';
import type { NamedQuote } from '../../figures/quotes.ts';
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

/** A counter's figure from events; null where only states can tell it. */
export type Either = (counter: Counter) => Figure | null;

export type QuoteAt = (
  quote: NamedQuote & { mint: string },
  policies: number,
  sums: QuoteSumsAt | QuoteSumsNow,
  either: Either,
) => QuoteHistory;

export function protocolItems(
  view: View,
  { block, each, passed, ends, begun, steps, cover }: ProtocolSteps,
): ProtocolHistoryResponse['items'] {
  const quoteAt = createQuoteAt(view);
  const fromEvents = createFromEvents(view, beginsOf(cover), block, each);
  return ends.map((end) => {
    const folded = steps[(end - block.first) / each];
    const sums = folded === undefined ? [] : unfoldSums(folded);
    const rows = new Map(sums.map((row) => [row.quote_mint, row]));
    const byQuote = begun.policies
      .map(({ counts, ...quote }) => ({ ...quote, policies: counts[(end - begun.first) / each] ?? 0 }))
      .filter(({ policies }) => policies > 0)
      .map(({ mint, name, policies }) =>
        quoteAt({ mint, ...name }, policies, rows.get(mint) ?? NO_SUMS, (counter) =>
          end > passed ? null : fromEvents(counter, mint, end),
        ),
      );
    return { time: isoTime(end * HOUR_S), byQuote };
  });
}

/** The first slots of hours, made once for all steps of a block. */
const begins = new WeakMap<StreamCover, FirstSlots>();

function beginsOf(cover: StreamCover): FirstSlots {
  const known = begins.get(cover) ?? firstSlots(cover);
  begins.set(cover, known);
  return known;
}

/** What is the same for all quote assets is looked up once. */
export function createQuoteAt(view: View): QuoteAt {
  const unlisted = unknownPoliciesReason(view);
  return ({ mint, symbol, decimals }, policies, sums, either) => ({
    quoteMint: mint,
    quoteSymbol: symbol,
    decimals,
    policyCount: unlisted === null ? policies : null,
    ...absentWhere(unlisted, quoteSums(sums, policies, either)),
  });
}

const NO_EVENTS: readonly HourSums[] = [];

/** Counters from events; the sums are got from the view when the first counter is needed. */
function createFromEvents(view: View, begins: (end: number) => bigint | null, block: Block, each: number) {
  const state = view.state();
  const key = pageKey('', block.first, block.first + (block.passed - 1) * each, each);
  /** The same for all quote assets. */
  const lacking = new Map<Amount, readonly IncompleteFrom[]>();
  const incomplete = (amount: Amount) => {
    const known = lacking.get(amount) ?? anyIncompleteFrom(state, amount);
    lacking.set(amount, known);
    return known;
  };
  let sums: QuoteStepSums | undefined;
  const ofMint = new Map<string, ReturnType<typeof countersAtEnds>>();
  return (counter: Counter, mint: string, end: number): Figure => {
    sums ??= view.get('protocolEvents', key);
    const fromEvents =
      ofMint.get(mint) ??
      countersAtEnds({
        state,
        sums: sums.get(mint) ?? NO_EVENTS,
        incomplete,
        concerns: ({ quote_mint }) => quote_mint === mint,
      });
    ofMint.set(mint, fromEvents);
    return fromEvents(counter, end, begins(end));
  };
}
