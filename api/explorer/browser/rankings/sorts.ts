import type { Sort } from '../../../../schemas/responses/rankings.ts';
import { ask } from '../address.ts';
import { html } from '../html.ts';
import { COLUMNS } from './columns.ts';

const sortIn = (query: URLSearchParams) => query.get('sort') ?? 'marketCap';
const isRising = (query: URLSearchParams) => query.get('order') === 'asc';

/** Ranks by `sort`; where that is so already it reverses the order. */
export function rankBy(sort: Sort, query: URLSearchParams): void {
  ask({
    sort: sort === 'marketCap' ? null : sort,
    order: sort === sortIn(query) && !isRising(query) ? 'asc' : null,
    offset: null,
  });
}

/** One button for each ranking. */
export function Sorts({ query }: { query: URLSearchParams }) {
  const current = sortIn(query);
  const rising = isRising(query);
  return html`<div class="sorts" role="group" aria-label="Rank by">
    ${COLUMNS.map(([sort, { name }]) => {
      const pressed = sort === current;
      return html`<button key=${sort} type="button" aria-pressed=${pressed} onClick=${() => rankBy(sort, query)}>
        ${name}${
          pressed &&
          html`<i class=${rising ? 'rising' : 'falling'} aria-label=${rising ? 'lowest first' : 'highest first'} role="img"></i>`
        }
      </button>`;
    })}
  </div>`;
}
