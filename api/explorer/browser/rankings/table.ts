import type { RankingRow, RankingsResponse, Sort } from '../../../../schemas/responses/rankings.ts';
import { html } from '../html.ts';
import { TokenMark, TokenName } from '../parts/token.ts';
import { TAGS } from '../text/meanings.ts';
import { namedAlike, shortKey, symbolOf } from '../text/words.ts';
import { COLUMNS } from './columns.ts';
import { focusInNext, useFocusOfLast } from './focus.ts';
import { rankBy } from './sorts.ts';

interface TableProps {
  data: RankingsResponse;
  /** The query of the address. */
  query: URLSearchParams;
}

export function RankingTable({ data: { items: rows, sort, order }, query }: TableProps) {
  useFocusOfLast();
  const alike = namedAlike(rows);
  const way = order === 'asc' ? 'ascending' : 'descending';
  const rank = (column: Sort) => {
    rankBy(column, query);
    focusInNext(`th[data-column="${column}"] button`);
  };
  return html`<div class="table-frame"><table class="ranking" data-sort=${sort}>
    <caption class="for-readers">Policies, ranked</caption>
    <thead>
      <tr>
        <th scope="col" class="rank"><span class="for-readers">Rank</span>#</th>
        <th scope="col">Policy</th>
        ${COLUMNS.map(
          ([
            column,
            { name, head, gives },
          ]) => html`<th key=${column} scope="col" class="number" data-column=${column} data-gives=${gives}
          data-ranks=${String(column === sort)} aria-sort=${column === sort && head === undefined ? way : undefined}>${
            head ?? html`<button type="button" onClick=${() => rank(column)}>${name}</button>`
          }</th>`,
        )}
      </tr>
    </thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.mint} row=${row} sort=${sort} isAlike=${alike.has(row.quoteMint)} />`)}</tbody>
  </table></div>`;
}

/** @param isAlike whether another quote asset on the page has the same symbol */
function Row({ row, sort, isAlike }: { row: RankingRow; sort: Sort; isAlike: boolean }) {
  const { mint, mintName, mintSymbol, quoteMint, quoteSymbol } = row;
  return html`<tr>
    <td class="rank">${row.rank}</td>
    <th scope="row"><div class="policy">
      <${TokenMark} symbol=${mintSymbol} mint=${mint} />
      <div>
        <a class="row-link" href=${`/explorer/coins/${mint}`}>
          <${TokenName} name=${mintName} symbol=${mintSymbol} mint=${mint} />
        </a>
        <span class="tags">
          <span class=${row.mode === 'Agent' ? 'tag agent' : 'tag'} title=${TAGS[row.mode]}>${row.mode}</span>
          ${row.paused && html`<span class="tag warn" title=${TAGS.Paused}>Paused</span>`}
          ${row.locked && html`<span class="tag" title=${TAGS.Locked}>Locked</span>`}
          ${isAlike && html`<span class="tag quote" title=${quoteMint}><bdi>${symbolOf(quoteSymbol, quoteMint)}</bdi> ${shortKey(quoteMint)}</span>`}
        </span>
      </div>
    </div></th>
    ${COLUMNS.map(
      ([column, { gives, cell }]) =>
        html`<td key=${column} class="number" data-gives=${gives} data-ranks=${String(column === sort)}>${cell(row)}</td>`,
    )}
  </tr>`;
}
