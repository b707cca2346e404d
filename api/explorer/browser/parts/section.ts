import { type Children, html } from '../html.ts';

/** A part of a page under its heading. */
export function Section({ title, note, children }: { title: string; note?: string; children?: Children }) {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return html`<section aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${note !== undefined && html`<p class="note">${note}</p>`}
    ${children}
  </section>`;
}
