import type { RankingRow, Sort } from '../../../../schemas/responses/rankings.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Fig } from '../parts/figure.ts';
import { TokenMark, TokenName } from '../parts/token.ts';
import { shortAgo, stamp } from '../text/times.ts';
import { plainText } from '../text/visible.ts';

/** The columns of figures, by the ranking that each is the key of. */
const COLUMNS: readonly [sort: Sort, head: string][] = [
  ['marketCap', 'Market cap'],
  ['profit', 'Profit swept'],
  ['fees', 'Fees routed'],
  ['burned', 'Burned'],
  ['bankroll', 'Bankroll'],
  ['activity', 'Events 24 h'],
  ['newest', 'Created'],
];

export function RankingTable({ rows, sort }: { rows: RankingRow[]; sort: Sort }) {
  return html`<div class="table-frame"><table class="ranking" data-sort=${sort}>
    <caption class="for-readers">Policies, ranked</caption>
    <thead>
      <tr>
        <th scope="col" class="rank"><span class="for-readers">Rank</span>#</th>
        <th scope="col">Policy</th>
        ${COLUMNS.map(
          ([column, head]) => html`<th key=${column} scope="col" data-column=${column} class="number"
          aria-sort=${column === sort ? 'other' : undefined}>${head}</th>`,
        )}
      </tr>
    </thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.mint} row=${row} />`)}</tbody>
  </table></div>`;
}

function Row({ row }: { row: RankingRow }) {
  const { mint, mintName, mintSymbol } = row;
  return html`<tr>
    <td class="rank">${row.rank}</td>
    <th scope="row"><div class="policy">
      <${TokenMark} symbol=${mintSymbol} mint=${mint} />
      <div>
        <a class="row-link" href=${`/explorer/coins/${mint}`}>
          <${TokenName} name=${mintName} symbol=${mintSymbol} mint=${mint} />
        </a>
        <span class="tags">
          <span class=${row.mode === 'Agent' ? 'tag agent' : 'tag'}>${row.mode}</span>
          ${row.paused && html`<span class="tag warn">Paused</span>`}
          ${row.locked && html`<span class="tag">Locked</span>`}
        </span>
      </div>
    </div></th>
    ${COLUMNS.map(([column]) => html`<td key=${column} data-column=${column} class="number">${CELLS[column](row)}</td>`)}
  </tr>`;
}

const quoteUnit = ({ quoteDecimals, quoteSymbol }: RankingRow) => ({
  kind: 'amount' as const,
  unit: { decimals: quoteDecimals, symbol: quoteSymbol === null ? null : plainText(quoteSymbol) },
});

/** An amount of the quote asset, and under it what that is in dollars, where a price is known. */
function money(row: RankingRow, column: 'profit' | 'fees' | 'bankroll', name: string) {
  return html`<${Fig} figure=${row[column]} reading=${quoteUnit(row)} name=${name} />
    <small><${Fig} figure=${row.usd[column]} reading=${{ kind: 'usd' }} name=${`${name}, in US dollars`} /></small>`;
}

const CELLS: Record<Sort, (row: RankingRow) => unknown> = {
  // Where neither can be told the reason is with the first.
  marketCap: (row) => html`${
    !(row.marketCap.usd.absent && row.marketCap.quote.absent) &&
    html`<${Fig} figure=${row.marketCap.usd} reading=${{ kind: 'usd' }} name="Market cap" />`
  }
    <small><${Fig} figure=${row.marketCap.quote} reading=${quoteUnit(row)} name="Market cap, in the quote asset" /></small>`,
  profit: (row) => money(row, 'profit', 'Profit swept'),
  fees: (row) => money(row, 'fees', 'Fees routed'),
  // The decimals of the launched token are not in a ranking.
  burned: (
    row,
  ) => html`<${Fig} figure=${row.burned} reading=${{ kind: 'amount', unit: { decimals: null, symbol: null } }}
    name="Tokens burned" bare />
    <small>base units</small>`,
  bankroll: (row) => money(row, 'bankroll', 'Bankroll'),
  activity: (row) =>
    html`<${Fig} figure=${row.eventsLast24h} reading=${{ kind: 'count' }} name="Events in 24 hours" />`,
  newest: (row) =>
    html`<span class="when" title=${row.createdAt === null ? '' : `${stamp(row.createdAt)} UTC`}>${
      row.createdAt === null ? html`<span class="absent">absent</span>` : shortAgo(row.createdAt, now.value)
    }</span>`,
};
