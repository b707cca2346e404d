import { NO_DAY_SUMS, type QuoteDayRow } from '../../clickhouse/queries/analytics/day-series.ts';
import type { UndatedEvent } from '../../clickhouse/queries/analytics/undated.ts';
import type { RevenueDay } from '../../schemas/responses/analytics.ts';
import { type Amount, dayIncompleteReason, eventSum } from '../figures/missing.ts';
import type { NamedQuote } from '../figures/quotes.ts';
import { BUYBACK_SOURCE, ROUTED_SOURCE, SWEPT_SOURCE } from '../figures/sources.ts';
import { dayBetween, isUnsettled } from '../figures/undated.ts';
import type { IndexState } from '../latest/index-state.ts';

type Sums = Pick<
  QuoteDayRow,
  'routed_to_lp' | 'routed_to_bankroll' | 'protocol_cut' | 'profit' | 'buyback_spent' | 'last_event'
>;

export type DayRow = Sums & Pick<QuoteDayRow, 'day' | 'quote_mint'>;

/**
 * Rows beside the summed days: each event without a block time whose day is known all the same; the day, without
 * amounts, of an event that is still to be summed up; and the day of each incomplete transaction, which may be all that
 * is known of it.
 */
export function datedRows({ incomplete }: IndexState): DayRow[] {
  const days = [...new Set(incomplete.days.map(([day]) => day))].sort();
  return [
    ...incomplete.undatedEvents.flatMap(datedRow),
    ...days.map((day) => ({ ...NO_DAY_SUMS, day, quote_mint: '' })),
  ];
}

/** One entry per UTC day that has an event, oldest first. @param rows the summed days, and those of `datedRows` */
export function revenueByDay(
  rows: readonly DayRow[],
  quotes: ReadonlyMap<string, NamedQuote>,
  state: IndexState,
): RevenueDay[] {
  const days = [...Map.groupBy(merged(rows), (row) => row.day)].sort(([a], [b]) => (a < b ? -1 : 1));
  return days.map(([day, ofDay]) => {
    return {
      day,
      ...dayFigures(sumOf(ofDay), day, state),
      byQuote: ofDay
        .filter((row) => row.quote_mint !== '')
        .map((row) => ({
          quoteMint: row.quote_mint,
          decimals: quotes.get(row.quote_mint)?.decimals ?? null,
          ...dayFigures(row, day, state),
        })),
    };
  });
}

/** An undated event as a row of its day, where the times around it are of one day; else nothing. */
function datedRow(event: UndatedEvent): DayRow[] {
  const day = dayBetween(event);
  if (day === null) return [];
  const of = (kind: string, amount: string) => (event.kind === kind && !isUnsettled(event) ? amount : '0');
  return [
    {
      day,
      quote_mint: event.quote_mint,
      routed_to_lp: of('Routed', event.amount_c),
      routed_to_bankroll: of('Routed', event.amount_d),
      protocol_cut: of('Routed', event.amount_b),
      profit: of('ProfitSwept', event.amount_a),
      buyback_spent: of('BuybackBurned', event.amount_a),
      last_event: null,
    },
  ];
}

/** One row per day and quote asset, ordered by quote asset. */
function merged(rows: readonly DayRow[]): DayRow[] {
  const one = (same: DayRow[]): DayRow => {
    const [first] = same as [DayRow];
    return same.length === 1 ? first : { day: first.day, quote_mint: first.quote_mint, ...sumOf(same) };
  };
  return [...Map.groupBy(rows, ({ day, quote_mint }) => `${day}/${quote_mint}`).values()]
    .map(one)
    .sort((a, b) => (a.quote_mint < b.quote_mint ? -1 : 1));
}

function sumOf(rows: readonly Sums[]): Sums {
  const total = (field: Exclude<keyof Sums, 'last_event'>) => {
    let sum = 0n;
    for (const row of rows) sum += BigInt(row[field]);
    return sum.toString();
  };
  let last: string | null = null;
  for (const { last_event } of rows)
    if (last === null || (last_event !== null && BigInt(last_event) > BigInt(last))) last = last_event;
  return {
    routed_to_lp: total('routed_to_lp'),
    routed_to_bankroll: total('routed_to_bankroll'),
    protocol_cut: total('protocol_cut'),
    profit: total('profit'),
    buyback_spent: total('buyback_spent'),
    last_event: last,
  };
}

function dayFigures(sums: Sums, day: string, state: IndexState) {
  const sum = (amount: Amount, value: string, source: string) => {
    const reason = state.historyReason ?? dayIncompleteReason(state, day, amount);
    return eventSum(state, reason, value, source, sums.last_event);
  };
  return {
    routedToLp: sum('Routed.toLp', sums.routed_to_lp, ROUTED_SOURCE),
    routedToBankroll: sum('Routed.toBankroll', sums.routed_to_bankroll, ROUTED_SOURCE),
    protocolCut: sum('Routed.protocolCut', sums.protocol_cut, ROUTED_SOURCE),
    profitSwept: sum('ProfitSwept.profit', sums.profit, SWEPT_SOURCE),
    spentOnBuybacks: sum('BuybackBurned.spent', sums.buyback_spent, BUYBACK_SOURCE),
  };
}
