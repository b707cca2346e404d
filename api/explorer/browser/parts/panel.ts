import { signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { meaningOf } from '../text/meanings.ts';
import { ago, stamp } from '../text/times.ts';
import { narrow } from './narrow.ts';
import { Text } from './text.ts';

/** What the panel shows of a number. */
export interface Shown {
  name: string;
  value: string | null;
  exact: string;
  unit: string;
  base: string | null;
  /** Empty where the context of the number says it. */
  source: string;
  /** Undefined where the name holds the time; null where it is not known. */
  asOf?: string | null;
  absent: boolean;
  reason: string | null;
  /** The path of the API that the number is from. */
  path?: string | null;
  /** Further lines of the panel. */
  more?: readonly (readonly [name: string, value: string])[];
}

/** What the panel shows, beside which element, and where that was then, in pixels below the top of the window. */
const open = signal<{ at: HTMLElement; shown: Shown; top: number } | null>(null);
let hiding: ReturnType<typeof setTimeout> | undefined;
const HIDE_MS = 120;
const GAP = 8;

export function showPanel(at: HTMLElement, shown: Shown): void {
  clearTimeout(hiding);
  open.value = { at, shown, top: at.getBoundingClientRect().top };
}

/** Updates the panel of an element, if it is open, when its number changes. */
export function renewPanel(at: HTMLElement | null, shown: Shown): void {
  const before = open.peek();
  if (before === null || before.at !== at || JSON.stringify(before.shown) === JSON.stringify(shown)) return;
  open.value = { ...before, shown };
}

/** Hides the panel; unless `left`, an element with keyboard focus keeps it while the pointer goes elsewhere. */
export function hidePanel(left: boolean): void {
  const at = open.value?.at;
  if (!left && at !== undefined && document.activeElement === at && at.matches(':focus-visible')) return;
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    open.value = null;
  }, HIDE_MS);
}

/** Places the panel beside a number; in a narrow window the style sheet puts it at the foot. */
function place(panel: HTMLElement, at: HTMLElement): void {
  if (narrow.value) return;
  const from = at.getBoundingClientRect();
  const { width, height } = panel.getBoundingClientRect();
  const below = from.bottom + GAP + height < innerHeight;
  // Not innerWidth: that has the room for the scroll bar too.
  const { clientWidth } = document.body;
  panel.style.left = `${Math.max(GAP, Math.min(from.left, clientWidth - width - GAP))}px`;
  panel.style.top = `${Math.max(GAP, below ? from.bottom + GAP : from.top - GAP - height)}px`;
}

/** One panel for all numbers, beside the one that is pointed at. */
export function Panel() {
  const panel = useRef<HTMLElement>(null);
  const current = open.value;
  useLayoutEffect(() => {
    const element = panel.current;
    if (element === null || current === null) return;
    place(element, current.at);
  }, [current]);
  useEffect(() => {
    const close = () => {
      open.value = null;
    };
    // Keyboard focus scrolls to its element, so the panel moves along. An element that did not move keeps its panel.
    const scrolled = () => {
      const at = open.value?.at;
      if (at?.getBoundingClientRect().top === open.value?.top) return;
      if (panel.current !== null && at?.matches(':focus-visible')) place(panel.current, at);
      else close();
    };
    const key = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      const at = open.value?.at;
      if (panel.current?.contains(document.activeElement) === true && at?.isConnected === true) at.focus();
      else close();
    };
    // A click by keyboard moves the focus into the panel, where its link is.
    const pressedByKey = ({ detail, target }: MouseEvent) => {
      if (detail === 0 && target instanceof Node && open.value?.at.contains(target) === true)
        panel.current?.focus();
    };
    // Not every browser moves the focus at a tap, so a tap elsewhere closes the panel here.
    const pressed = ({ target }: PointerEvent) => {
      if (!(target instanceof Node)) return;
      if (panel.current?.contains(target) !== true && open.value?.at.contains(target) !== true) close();
    };
    addEventListener('keydown', key);
    addEventListener('click', pressedByKey);
    addEventListener('pointerdown', pressed);
    addEventListener('scroll', scrolled, { passive: true, capture: true });
    return () => {
      removeEventListener('keydown', key);
      removeEventListener('click', pressedByKey);
      removeEventListener('pointerdown', pressed);
      removeEventListener('scroll', scrolled, { capture: true });
    };
  }, []);
  if (current === null) return html`<div class="panel" role="status" hidden></div>`;
  const { shown } = current;
  const meaning = meaningOf(shown.name);
  return html`<div ref=${panel} class="panel" role="status" aria-live="polite" tabindex="-1"
    onMouseEnter=${() => clearTimeout(hiding)} onMouseLeave=${() => hidePanel(false)}
    onFocusIn=${() => clearTimeout(hiding)} onFocusOut=${() => hidePanel(true)}>
    <p class="panel-name">${shown.name}</p>
    <p class="panel-value">
      ${shown.absent ? html`<span class="absent">absent</span>` : html`${shown.exact} <small>${shown.unit}</small>`}
    </p>
    ${meaning !== null && html`<p class="panel-meaning">${meaning}</p>`}
    <dl>
      ${shown.base !== null && !shown.absent && html`<dt>Exactly</dt><dd>${shown.base}</dd>`}
      ${shown.reason !== null && html`<dt>Why</dt><dd><${Text} text=${shown.reason} /></dd>`}
      ${shown.more?.map(([name, value]) => html`<dt>${name}</dt><dd><${Text} text=${value} /></dd>`)}
      ${shown.source !== '' && html`<dt>Source</dt><dd class="source"><${Text} text=${shown.source} /></dd>`}
      ${
        !shown.absent &&
        shown.asOf !== undefined &&
        html`<dt>As of</dt><dd>${
          shown.asOf === null
            ? 'a time that is not known'
            : `${stamp(shown.asOf)} UTC, ${ago(shown.asOf, now.value)}`
        }</dd>`
      }
      ${shown.path && html`<dt>API</dt><dd class="asked"><a href=${shown.path}>${shown.path}</a></dd>`}
    </dl>
  </div>`;
}
