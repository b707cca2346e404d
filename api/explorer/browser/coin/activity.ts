import type { ActivityItem } from '../../../../schemas/responses/coin/activity.ts';
import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { narrow } from '../parts/narrow.ts';
import { usePanel } from '../parts/pointed.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { useWindow } from '../parts/window.ts';
import type { Resource } from '../resource.ts';
import { fieldsOf, partsOf, told, type Units } from '../text/events.ts';
import { shortAgo } from '../text/times.ts';
import { useEvents } from './events.ts';
import { unitsOf } from './units.ts';

const ROW_PX = 52;
/** In a narrow window the text of an event takes two lines. */
const NARROW_ROW_PX = 70;

export function Activity({
  coin,
  fresh,
  above,
}: {
  coin: CoinResponse;
  fresh: number;
  above: Resource<unknown>;
}) {
  const { first, items, older } = useEvents(coin.mint, fresh);
  return html`<${Loaded} of=${first} above=${above} rows=${8}>${() =>
    first.data?.items.length === 0
      ? html`<${Empty} title="Nothing has happened yet.">Events appear here by themselves.<//>`
      : html`<${Rows} coin=${coin} items=${items.length === 0 ? (first.data?.items ?? []) : items} onEnd=${older} />`}<//>`;
}

/** Only the rows that can be seen are drawn, however many are known. */
function Rows({
  coin,
  items,
  onEnd,
}: {
  coin: CoinResponse;
  items: readonly ActivityItem[];
  onEnd: () => void;
}) {
  const rowPx = narrow.value ? NARROW_ROW_PX : ROW_PX;
  const { frame, from, to, onScroll } = useWindow(items.length, rowPx, onEnd);
  const units = unitsOf(coin);
  return html`<div class="activity" ref=${frame} onScroll=${onScroll} tabindex="0" role="group" aria-label="Events, newest first">
    <ol style=${{ '--all-rows': `${items.length * rowPx}px` }}>
      ${items.slice(from, to).map(
        (
          item,
          at,
        ) => html`<li key=${from + at} style=${{ top: `${(from + at) * rowPx}px`, height: `${rowPx}px` }}
          aria-setsize=${items.length} aria-posinset=${from + at + 1}><${Row} item=${item} units=${units} /></li>`,
      )}
    </ol>
  </div>
  <p class="note on-paper">Events ${from + 1} to ${to} of ${items.length} read here, newest first; all of them:${' '}
    /coins/${encodeURIComponent(coin.mint)}/activity</p>`;
}

function Row({ item, units }: { item: ActivityItem; units: Units }) {
  const { title, tone, text } = told(item.kind, item.summary, units);
  const panel = usePanel(detailOf(item, title, units));
  return html`<button type="button" ...${panel}>
    <i class=${`tone ${tone}`} aria-hidden="true"></i>
    <span class="event-title">${title}${'derived' in item && html` <small>derived</small>`}</span>
    <time datetime=${item.block_time}>${item.block_time === null ? `slot ${item.slot}` : shortAgo(item.block_time, now.value)}</time>
    <span class="event-text">${partsOf(text).map((part, at) => (at % 2 === 0 ? part : html`<bdi>${part}</bdi>`))}</span>
  </button>`;
}

function detailOf(
  { actor, summary, slot, signature, block_time }: ActivityItem,
  title: string,
  units: Units,
) {
  return {
    name: `Event, by the ${actor}`,
    value: null,
    exact: title,
    unit: '',
    base: null,
    source: `chain: transaction ${signature}, slot ${slot}`,
    asOf: block_time,
    absent: false,
    reason: null,
    more: fieldsOf(summary, units),
  };
}
