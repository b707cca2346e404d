import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Children, html } from '../html.ts';
import { hidePanel, renewPanel, type Shown, showPanel } from './panel.ts';

/** The props of a button that opens the panel on hover, focus or tap. */
export interface PanelProps {
  ref: RefObject<HTMLElement | null>;
  onMouseEnter(event: Event): void;
  onMouseLeave(): void;
  onFocus(event: Event): void;
  onBlur(): void;
  onClick(event: Event): void;
}

/** Props that open the panel, which is kept up to date with `shown` while it is open. */
export function usePanel(shown: Shown): PanelProps {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => renewPanel(ref.current, shown));
  const open = (event: Event) => showPanel(event.currentTarget as HTMLElement, shown);
  return {
    ...{ ref, onMouseEnter: open, onFocus: open, onClick: open },
    onMouseLeave: () => hidePanel(false),
    onBlur: () => hidePanel(true),
  };
}

/** A button around a number that shows in the panel, on hover, focus or tap, where the number comes from. */
export function Pointed({ shown, children }: { shown: Shown; children?: Children }) {
  const panel = usePanel(shown);
  return html`<button type="button" class="figure" aria-haspopup="dialog" ...${panel}
  ><span class="for-readers">${shown.name}: </span>${shown.absent ? html`<span class="absent">absent</span>` : children}</button>`;
}
