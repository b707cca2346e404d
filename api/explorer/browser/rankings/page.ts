import { useEffect } from 'preact/hooks';
import type { RankingsResponse } from '../../../../schemas/responses/rankings.ts';
import { address, ask, pathOf } from '../address.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { counted } from '../text/words.ts';
import { ClearFilters, Filters } from './filters.ts';
import { focusInNext } from './focus.ts';
import { useRanking } from './live.ts';
import { asked, FILTERS, PAGE } from './question.ts';
import { moveInRows } from './rows-by-key.ts';
import { Sorts } from './sorts.ts';
import { RankingTable } from './table.ts';

export function RankingsPage() {
  const { query } = address.value;
  const question = asked(query);
  const answer = useRanking(question);
  useEffect(() => {
    addEventListener('keydown', moveInRows);
    return () => removeEventListener('keydown', moveInRows);
  }, []);
  return html`
    <div class="page-head">
      <h1>Policies</h1>
      <p class="lead">
        A policy says what becomes of a launched token’s trading fees: they fund its bankroll, a vault that the program
        owns, and a fixed rule or an agent puts it to work. Profit buys the token back and burns it. Point at a number,
        or tap it, for its source and its age.
      </p>
    </div>
    <div class="sorts-line"><${Sorts} query=${query} /><${ClearFilters} query=${query} /></div>
    <${Filters} query=${query} isRanked=${answer.data !== null} />
    <${Loaded} of=${answer} rows=${12}>${(data: RankingsResponse) =>
      data.items.length === 0
        ? html`<${None} data=${data} question=${question} />`
        : html`
            ${
              data.sort === 'burned' &&
              html`<p class="note">
              Ranked by what was spent on buying the token back, in ${question.has('quote') ? 'its quote asset' : 'US dollars'}:
              no column has it, the page of each policy does. What was burned is of another token in each row.
            </p>`
            }
            <${RankingTable} data=${data} query=${query} />
            <${Pages} data=${data} />
          `}<//>
  `;
}

function None({ data, question }: { data: RankingsResponse; question: URLSearchParams }) {
  if (data.offset > 0 && data.total !== 0)
    return html`<${Empty} title="No policy so far down.">There are fewer than that. <a href=${pathOf({ offset: null })}>The first page</a><//>`;
  return FILTERS.some((name) => question.has(name))
    ? html`<${Empty} title="No policy fits.">Take a filter away, or look for something else.<//>`
    : html`<${Empty} title="No policy yet.">As soon as one is created it stands here.<//>`;
}

function Pages({ data }: { data: RankingsResponse }) {
  const { offset, items, total, hasMore } = data;
  const to = (start: number) => () => {
    ask({ offset: start === 0 ? null : String(start) });
    focusInNext('a.row-link');
  };
  return html`<div class="pages">
    <p>${offset + 1} to ${offset + items.length} of ${counted(total, 'policy', 'policies')}</p>
    ${
      (offset > 0 || hasMore) &&
      html`<span>
      <button type="button" disabled=${offset === 0} onClick=${to(Math.max(0, offset - PAGE))}>Back</button>
      <button type="button" disabled=${!hasMore} onClick=${to(offset + PAGE)}>Next</button>
    </span>`
    }
    <p class="keys"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> up and down <kbd>Enter</kbd> open</p>
  </div>`;
}
