import { html } from '../html.ts';
import { visibleParts } from '../text/visible.ts';

/** Text that strangers wrote: its direction affects nothing around it, and invisible characters are shown by name. */
export function Text({ text }: { text: string }) {
  return html`<bdi dir="auto">${visibleParts(text).map((part) =>
    part.hidden
      ? html`<span class="hidden-char" title="what would not be seen, by its name">${part.text}</span>`
      : part.text,
  )}</bdi>`;
}
