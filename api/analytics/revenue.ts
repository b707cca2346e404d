import type { QuoteDayRow } from '../../clickhouse/queries/analytics/day-series.ts';
import type { UndatedEvent } from '../../clickhouse/queries/analytics/undated.ts';
import type { RevenueDay } from '../../schemas/responses/analytics.ts';
import { type Amount, dayIncompleteReason, eventSum } from '../figures/missing.ts';
import type { Quote } from '../figures/quotes.ts';
import { BUYBACK_SOURCE, ROUTED_SOURCE, SWEPT_SOURCE } from '../figures/sources.ts';
import { dayBetween } from '../figures/undated.ts';
import type { IndexState } from '../latest/index-state.ts';

type Sums = Pick<
  QuoteDayRow,
  'routed_to_lp' | 'routed_to_bankroll' | 'protocol_cut' | 'profit' | 'buyback_spent' | 'last_event'
>;

type DayRow = Sums & Pick<QuoteDayRow, 'day' | 'quote_mint'>;

/** One entry per UTC day that has an event, oldest first. */
export function revenueByDay(
  rows: readonly DayRow[],
  quotes: ReadonlyMap<string, Quote>,
  state: IndexState,
): RevenueDay[] {
  const dated = state.incomplete.undatedEvents.flatMap(datedRow);
  const days = [...Map.groupBy(merged([...rows, ...dated]), (row) => row.day)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return days.map(([day, ofDay]) => {
    return {
      day,
      ...dayFigures(ofDay.reduce(plus, NOTHING), day, state),
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

/** An event whose neighbours are of one day, as a day of its own; none where they are not. */
function datedRow(event: UndatedEvent): DayRow[] {
  const day = dayBetween(event);
  if (day === null) return [];
  const of = (kind: string, amount: string) => (event.kind === kind ? amount : '0');
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

/** One row a day and quote asset, by quote asset. */
function merged(rows: readonly DayRow[]): DayRow[] {
  const one = ([first, ...rest]: DayRow[]): DayRow => {
    const { day, quote_mint } = first as DayRow;
    return { day, quote_mint, ...rest.reduce<Sums>(plus, first as DayRow) };
  };
  return [...Map.groupBy(rows, ({ day, quote_mint }) => `${day}/${quote_mint}`).values()]
    .map(one)
    .sort((a, b) => (a.quote_mint < b.quote_mint ? -1 : 1));
}

const NOTHING: Sums = {
  routed_to_lp: '0',
  routed_to_bankroll: '0',
  protocol_cut: '0',
  profit: '0',
  buyback_spent: '0',
  last_event: null,
};

function plus(sums: Sums, row: Sums): Sums {
  const add = (a: string, b: string) => (BigInt(a) + BigInt(b)).toString();
  return {
    routed_to_lp: add(sums.routed_to_lp, row.routed_to_lp),
    routed_to_bankroll: add(sums.routed_to_bankroll, row.routed_to_bankroll),
    protocol_cut: add(sums.protocol_cut, row.protocol_cut),
    profit: add(sums.profit, row.profit),
    buyback_spent: add(sums.buyback_spent, row.buyback_spent),
    last_event: later(sums.last_event, row.last_event),
  };
}

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return BigInt(a) > BigInt(b) ? a : b;
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
