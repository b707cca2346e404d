import { address } from '../address.ts';
import { now } from '../clock.ts';
import { type Children, html } from '../html.ts';
import type { Resource } from '../resource.ts';
import { ago } from '../text/times.ts';
import { capital } from '../text/words.ts';
import { Asked } from './asked.ts';
import { Text } from './text.ts';

/** Draws an answer, or that it is still awaited or cannot be had; and above it whether it is old. */
export function Loaded<T>({
  of,
  rows = 6,
  above = null,
  children,
}: {
  of: Resource<T>;
  rows?: number;
  /** A resource that is shown further up: where both failed for the same reason, only that one says so. */
  above?: Resource<unknown> | null;
  children?: (data: T) => Children;
}) {
  if (of.data === null) {
    return of.state === 'failed'
      ? isSaid(of, above)
        ? html`<p class="note">Cannot be shown now.</p>`
        : html`<${Failed} of=${of} />`
      : html`<div class="skeleton" role="status" aria-label="Loading">
          ${Array.from({ length: rows }, (_, row) => html`<span key=${row}></span>`)}
        </div>`;
  }
  return html`<${IfOld} of=${of} above=${above} />
    <${Asked.Provider} value=${of.path}>${children?.(of.data)}<//>`;
}

const isSaid = (of: Resource<unknown>, above: Resource<unknown> | null) =>
  above !== null && above.failure !== null && above.failure === of.failure;

/** Says that an answer could not be renewed, unless the resource above says so for the same reason. */
export function IfOld({ of, above }: { of: Resource<unknown>; above: Resource<unknown> | null }) {
  return of.state === 'old' && !isSaid(of, above) ? html`<${Old} of=${of} />` : null;
}

function Failed({ of }: { of: Resource<unknown> }) {
  // Asking again does not help: the address itself is wrong.
  if (of.status === 400)
    return html`<div class="notice failed" role="alert">
      <p><b>The address of this page asks for something that is not there.</b> <${Text} text=${capital(of.failure ?? '')} />.</p>
      <p><a href=${address.value.path}>The page without what was asked</a></p>
    </div>`;
  return html`<div class="notice failed" role="alert">
    <p><b>This cannot be shown now.</b> <${Text} text=${capital(of.failure ?? '')} />.</p>
    <p>Nothing is shown in its place: no number here is made up. It is asked for again by itself.</p>
    <button type="button" onClick=${of.askNow}>Ask again</button>
  </div>`;
}

function Old({ of }: { of: Resource<unknown> }) {
  const at =
    of.at === null ? '' : ` What stands here was answered ${ago(new Date(of.at).toISOString(), now.value)}.`;
  return html`<div class="notice old" role="status">
    <p><b>Not up to date.</b> <${Text} text=${capital(of.failure ?? '')} />.${at} It is asked for again by itself.</p>
  </div>`;
}

export function Empty({ title, children }: { title: string; children?: Children }) {
  return html`<div class="empty"><p><b>${title}</b></p><p>${children}</p></div>`;
}
