import { html } from '../html.ts';
import { visibleParts } from '../text/visible.ts';

/** Text of strangers: turned round by nothing in it, and nothing in it unseen. */
export function Text({ text }: { text: string }) {
  return html`<bdi dir="auto">${visibleParts(text).map((part) =>
    part.hidden
      ? html`<span class="hidden-char" title="what would not be seen, by its name">${part.text}</span>`
      : part.text,
  )}</bdi>`;
}
