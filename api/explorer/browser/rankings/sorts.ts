import type { Sort } from '../../../../schemas/responses/rankings.ts';
import { ask } from '../address.ts';
import { html } from '../html.ts';
import { SORT_NAMES } from './question.ts';

/** One button a ranking; a second press turns the order round. */
export function Sorts({ query }: { query: URLSearchParams }) {
  const current = query.get('sort') ?? 'marketCap';
  const rising = query.get('order') === 'asc';
  return html`<div class="sorts" role="group" aria-label="Rank by">
    ${(Object.keys(SORT_NAMES) as Sort[]).map((sort) => {
      const pressed = sort === current;
      const press = () =>
        ask({
          sort: sort === 'marketCap' ? null : sort,
          order: pressed && !rising ? 'asc' : null,
          offset: null,
        });
      return html`<button key=${sort} type="button" aria-pressed=${pressed} onClick=${press}>
        ${SORT_NAMES[sort]}${
          pressed &&
          html`<i class=${rising ? 'rising' : 'falling'} aria-label=${rising ? 'lowest first' : 'highest first'} role="img"></i>`
        }
      </button>`;
    })}
  </div>`;
}
