import { html } from '../html.ts';
import { visibleParts } from '../text/visible.ts';

/** Text of strangers: turned round by nothing in it, and nothing in it unseen. */
export function Text({ text }: { text: string }) {
  return html`<bdi dir="auto">${visibleParts(text).map((part) =>
    part.hidden
      ? html`<span class="hidden-char" title="a character that is not shown">${part.text}</span>`
      : part.text,
  )}</bdi>`;
}
