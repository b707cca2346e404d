import type { QuoteHourSums } from '../../clickhouse/queries/history/event-sums.ts';
import type { QuoteSumsAt } from '../../clickhouse/queries/history/quote-sums.ts';
import { firstSlots } from '../../clickhouse/queries/history/stream-cover.ts';
import type { Figure } from '../../schemas/figure.ts';
import type { ProtocolHistoryResponse, QuoteHistory } from '../../schemas/responses/history.ts';
import { HOUR_S, isoTime } from '../../schemas/units.ts';
import { anyIncompleteReason } from '../figures/missing.ts';
import { quotesAt } from '../figures/quotes.ts';
import { nextSecond } from '../figures/times.ts';
import { unless, unlistedReason } from '../figures/unlisted.ts';
import { pageKey } from '../latest/kinds/kind.ts';
import type { ReadSettings } from '../latest/read-deps.ts';
import type { View } from '../latest/view.ts';
import { blocksOf } from './blocks.ts';
import { type Counter, countersFromEvents } from './counters.ts';
import { passedHours } from './passed.ts';
import { NO_SUMS, quoteSums } from './quote-sums.ts';
import { type Range, STEP_S } from './range.ts';

/** `GET /analytics/history` */
export function protocolHistory(view: View, settings: ReadSettings, range: Range): ProtocolHistoryResponse {
  if (range.unfinished) view.until(nextSecond(view.now));
  const ends = range.ends.map((end) => end / HOUR_S);
  const now = range.unfinished ? view.one('protocolNow') : [];
  const passed = passedHours(view);
  const reached = ends.filter((end) => end <= passed);
  const [first, last] = [ends[0], ends.at(-1)];
  const each = STEP_S[range.step] / HOUR_S;
  const isEmpty = first === undefined || last === undefined;
  const begun = isEmpty ? [] : view.get('protocolBegun', pageKey('', first, last, each));
  const blocks = readBlocks(view, ends, each, passed);
  const mints = new Set([...begun, ...now].map(({ quote_mint }) => quote_mint));
  const quotes = quotesAt(view, settings.launchpadVenueId, [...mints]);
  const fromEvents = createFromEvents(view, (end) => blocks(end).begins(end), reached);
  const unlisted = unlistedReason(view);
  const quoteAt = (mint: string, policies: number, sums: QuoteSumsAt, either: Either): QuoteHistory => ({
    quoteMint: mint,
    quoteSymbol: quotes.get(mint)?.view.symbol ?? null,
    decimals: quotes.get(mint)?.decimals ?? null,
    policyCount: unlisted === null ? policies : null,
    ...unless(unlisted, quoteSums(sums, policies, either)),
  });
  const items = ends.map((end, at) => {
    const sums = blocks(end).sums(end);
    const byQuote = begun
      .map(({ quote_mint, counts }) => ({ mint: quote_mint, policies: Number(counts[at]) }))
      .filter(({ policies }) => policies > 0)
      .map(({ mint, policies }) =>
        quoteAt(mint, policies, sums.get(mint) ?? NO_SUMS, (counter) =>
          end > passed ? null : fromEvents(counter, mint, end),
        ),
      );
    return { time: isoTime(end * HOUR_S), byQuote };
  });
  if (range.unfinished) {
    const byQuote = now.map((row) => quoteAt(row.quote_mint, Number(row.policies), row, () => null));
    items.push({ time: isoTime(range.to), byQuote });
  }
  return { from: isoTime(range.from), to: isoTime(range.to), step: range.step, items };
}

/** The blocks of a range, by any of its ends. */
function readBlocks(view: View, ends: readonly number[], each: number, passed: number) {
  const blocks = blocksOf(ends, each, passed).map(({ first, last, passed: known }) => {
    const { sums, cover } = view.get('protocolHistory', pageKey('', first, last, each, known));
    const byStep = Map.groupBy(sums, ({ step }) => step);
    const begins = firstSlots(cover);
    const sumsAt = (end: number) => {
      const rows = byStep.get((end - first) / each + 1) ?? [];
      return new Map<string, QuoteSumsAt>(rows.map((row) => [row.quote_mint, row]));
    };
    return { last, begins, sums: sumsAt };
  });
  return (end: number) => blocks.find(({ last }) => end <= last) as (typeof blocks)[number];
}

/** The same from events; null where there is nothing else than states. */
export type Either = (counter: Counter) => Figure | null;

/** Sums of events, asked for once somebody wants one. */
function createFromEvents(view: View, begins: (end: number) => bigint | null, reached: readonly number[]) {
  const state = view.state();
  const [first = 1, last = 1] = [reached[0], reached.at(-1)];
  let rows: Map<string, QuoteHourSums[]> | undefined;
  const rowsOf = (mint: string): QuoteHourSums[] => {
    rows ??= Map.groupBy(
      view.get('protocolEvents', pageKey('', first - 1, last)),
      ({ quote_mint }) => quote_mint,
    );
    return rows.get(mint) ?? [];
  };
  const ofMint = new Map<string, ReturnType<typeof countersFromEvents>>();
  return (counter: Counter, mint: string, end: number): Figure => {
    const fromEvents =
      ofMint.get(mint) ??
      countersFromEvents({
        state,
        sums: rowsOf(mint),
        incomplete: (amount) => anyIncompleteReason(state, amount),
        concerns: ({ quote_mint }) => quote_mint === mint,
      });
    ofMint.set(mint, fromEvents);
    return fromEvents(counter, end, begins(end));
  };
}
