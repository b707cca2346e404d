import type { AnalyticsResponse, RevenueDay } from '../../../../schemas/responses/analytics.ts';
import { Bars, type Point } from '../charts/chart.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Fig } from '../parts/figure.ts';
import { Empty } from '../parts/states.ts';
import { inBaseUnits, scaled, type Unit } from '../text/amounts.ts';
import { symbolOf } from '../text/words.ts';
import { ChooseQuote, chosenOf, inOrder } from './choose-quote.ts';
import { type DayFigure, figureOfDay } from './day-figures.ts';

const FIGURES = [
  ['routedToBankroll', 'Routed to bankrolls', 'purse-bankroll'],
  ['routedToLp', 'Routed to liquidity', 'purse-lp'],
  ['protocolCut', 'Protocol’s cut', 'purse-protocol'],
  ['profitSwept', 'Profit above the mark', 'purse-local'],
  ['spentOnBuybacks', 'Spent on buybacks', 'purse-holders'],
] as const;

/** One small chart for each figure, in one quote asset, which the address holds. */
export function Days({ data }: { data: AnalyticsResponse }) {
  const quotes = inOrder(data.protocolTotals.byQuote);
  const quote = chosenOf(quotes);
  const days = data.revenueByDayTimeSeries;
  const last = days.at(-1);
  if (quote === undefined || last === undefined)
    return html`<${Empty} title="No day has an event yet.">The first one starts the series.<//>`;
  const unit: Unit = {
    decimals: quote.decimals,
    symbol: symbolOf(quote.quoteSymbol, quote.quoteMint),
    mint: quote.quoteMint,
  };
  return html`
    <${ChooseQuote} quotes=${quotes} chosen=${quote.quoteMint} />
    <div class="charts">
      ${FIGURES.map(([figure, name, colour]) => {
        const points = days.map((day) => pointOf(day, quote.quoteMint, figure, unit));
        const { day } = last;
        const newest = figureOfDay(last, quote.quoteMint, figure);
        return html`<div key=${figure} class="small-chart">
          <h3>${name}</h3>
          <p class="newest">${
            newest === null
              ? html`<span class="quiet">nothing ${dayName(day, now.value)}</span>`
              : html`<${Fig} figure=${newest} reading=${{ kind: 'amount', unit }} name=${`${name}, ${day}`} /> <small>${dayName(day, now.value)}</small>`
          }</p>
          <${Bars} label=${`${name} a day, in ${unit.symbol}`} points=${points} colour=${colour}
            unit=${unit.decimals === null ? 'base units' : (unit.symbol ?? 'amount')} />
        </div>`;
      })}
    </div>`;
}

/** How a day is named; today has not had all of its events yet. */
const dayName = (day: string, at: number): string =>
  day === new Date(at).toISOString().slice(0, 10) ? 'so far today, UTC' : `on ${day}`;

/** A day without the figure is a known zero. */
function pointOf(day: RevenueDay, quoteMint: string, name: DayFigure, unit: Unit): Point {
  const figure = figureOfDay(day, quoteMint, name);
  const { source } = figure ?? day[name];
  if (figure?.absent) return { day: day.day, source, base: null, value: null, reason: figure.reason ?? null };
  const base = figure === null ? '0' : String(figure.value);
  const value = unit.decimals === null ? base : scaled(base, unit.decimals);
  return { day: day.day, source, base: inBaseUnits(base, unit.decimals), value, reason: null };
}
