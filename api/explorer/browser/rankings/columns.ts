import type { RankingRow, Sort } from '../../../../schemas/responses/rankings.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Fig } from '../parts/figure.ts';
import { shortAgo, stamp } from '../text/times.ts';
import { symbolOf } from '../text/words.ts';
import { Burned } from './burned.ts';

/** A ranking: its button, and the column that shows what it ranks by. */
interface Column {
  name: string;
  /** The column's head, where it shows something else than what it ranks by, which then has no column. */
  head?: string;
  /** In which turn the column is left out where there is little room, unless it is that of the ranking shown. */
  gives: 'first' | 'second' | 'third' | 'fourth' | 'last';
  cell(row: RankingRow): unknown;
}

const quoteUnit = ({ quoteDecimals, quoteSymbol, quoteMint }: RankingRow) => ({
  kind: 'amount' as const,
  unit: { decimals: quoteDecimals, symbol: symbolOf(quoteSymbol, quoteMint), mint: quoteMint },
});

/** An amount of the quote asset, and under it what that is in dollars, where a price is known. */
function money(row: RankingRow, column: keyof RankingRow['usd'], name: string) {
  return html`<${Fig} figure=${row[column]} reading=${quoteUnit(row)} name=${name} />
    <small><${Fig} figure=${row.usd[column]} reading=${{ kind: 'usd' }} name=${`${name}, in US dollars`} /></small>`;
}

/** In the order in which the columns are shown. */
const BY_SORT: Record<Sort, Column> = {
  marketCap: {
    name: 'Market cap',
    gives: 'last',
    // Where both are absent only the second is shown, whose reason is the first cause.
    cell: (row) => html`${
      !(row.marketCap.usd.absent && row.marketCap.quote.absent) &&
      html`<${Fig} figure=${row.marketCap.usd} reading=${{ kind: 'usd' }} name="Market cap" />`
    }
    <small><${Fig} figure=${row.marketCap.quote} reading=${quoteUnit(row)} name="Market cap, in the quote asset" /></small>`,
  },
  profit: {
    name: 'Profit swept',
    gives: 'third',
    cell: (row) => money(row, 'profit', 'Profit swept'),
  },
  fees: {
    name: 'Fees routed',
    gives: 'second',
    cell: (row) => money(row, 'fees', 'Fees routed'),
  },
  burned: {
    name: 'Buybacks',
    head: 'Burned',
    gives: 'first',
    cell: (row) => html`<${Burned} row=${row} />`,
  },
  bankroll: {
    name: 'Unspent',
    gives: 'fourth',
    cell: (row) => money(row, 'bankroll', 'Bankroll, unspent'),
  },
  activity: {
    name: 'Events 24 h',
    gives: 'second',
    cell: (row) =>
      html`<${Fig} figure=${row.eventsLast24h} reading=${{ kind: 'count' }} name="Events in 24 hours" />`,
  },
  newest: {
    name: 'Created',
    gives: 'first',
    cell: (row) =>
      html`<span class="when" title=${row.createdAt === null ? '' : `${stamp(row.createdAt)} UTC`}>${
        row.createdAt === null ? html`<span class="absent">absent</span>` : shortAgo(row.createdAt, now.value)
      }</span>`,
  },
};
export const COLUMNS = Object.entries(BY_SORT) as [Sort, Column][];
