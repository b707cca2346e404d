import { useEffect, useRef } from 'preact/hooks';
import { type Children, html } from '../html.ts';
import { hidePanel, renewPanel, type Shown, showPanel } from './panel.ts';

/** What says on hover, focus or tap where it comes from. */
export function Pointed({ shown, children }: { shown: Shown; children?: Children }) {
  const button = useRef<HTMLElement>(null);
  useEffect(() => renewPanel(button.current, shown));
  const open = (event: Event) => showPanel(event.currentTarget as HTMLElement, shown);
  return html`<button
    ref=${button}
    type="button"
    class="figure"
    aria-haspopup="dialog"
    onMouseEnter=${open}
    onMouseLeave=${() => hidePanel(false)}
    onFocus=${open}
    onBlur=${() => hidePanel(true)}
    onClick=${open}
  ><span class="for-readers">${shown.name}: </span>${shown.absent ? html`<span class="absent">absent</span>` : children}</button>`;
}
