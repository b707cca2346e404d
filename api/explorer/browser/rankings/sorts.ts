import { ask } from '../address.ts';
import { html } from '../html.ts';
import { COLUMNS } from './columns.ts';

/** One button a ranking; a second press turns the order round. */
export function Sorts({ query }: { query: URLSearchParams }) {
  const current = query.get('sort') ?? 'marketCap';
  const rising = query.get('order') === 'asc';
  return html`<div class="sorts" role="group" aria-label="Rank by">
    ${COLUMNS.map(([sort, { name }]) => {
      const pressed = sort === current;
      const press = () =>
        ask({
          sort: sort === 'marketCap' ? null : sort,
          order: pressed && !rising ? 'asc' : null,
          offset: null,
        });
      return html`<button key=${sort} type="button" aria-pressed=${pressed} onClick=${press}>
        ${name}${
          pressed &&
          html`<i class=${rising ? 'rising' : 'falling'} aria-label=${rising ? 'lowest first' : 'highest first'} role="img"></i>`
        }
      </button>`;
    })}
  </div>`;
}
