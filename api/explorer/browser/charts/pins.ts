import { html } from '../html.ts';
import { hidePanel, type Shown, showPanel } from '../parts/panel.ts';
import type { PlotArea } from './draw.ts';

/** Something that was said at a time. */
export interface Pin {
  id: string;
  /** ISO 8601. */
  time: string;
  /** The kind of what was said, for its colour. */
  kind: string;
  shown: Shown;
}

/** Pins closer than this would cover each other: one stands for all of them. */
const APART_PX = 20;

/** Pins over a chart at the times of posts, newest last; each shows its post on hover, focus or tap. */
export function Pins({ pins, place }: { pins: readonly Pin[]; place: PlotArea }) {
  if (place.to <= place.from) return null;
  const at = ({ time }: Pin) =>
    place.left + ((Date.parse(time) / 1000 - place.from) / (place.to - place.from)) * place.width;
  const groups: { x: number; pins: Pin[] }[] = [];
  for (const pin of pins.toSorted((a, b) => Date.parse(a.time) - Date.parse(b.time))) {
    const x = at(pin);
    if (x < place.left - 1 || x > place.left + place.width + APART_PX) continue;
    const last = groups.at(-1);
    if (last !== undefined && x - last.x < APART_PX) last.pins.push(pin);
    else groups.push({ x: Math.min(x, place.left + place.width), pins: [pin] });
  }
  return html`<ol class="pins" aria-label="What was posted when">
    ${groups.map(({ x, pins: together }) => {
      const newest = together.at(-1) as Pin;
      const others = together.length - 1;
      const said = `${newest.shown.name}, ${newest.time.slice(0, 16).replace('T', ' ')}`;
      const shown =
        others === 0
          ? newest.shown
          : {
              ...newest.shown,
              more: [
                ...(newest.shown.more ?? []),
                ['Before it', `${others} more, in the list of posts`] as const,
              ],
            };
      const open = (event: Event) => showPanel(event.currentTarget as HTMLElement, shown);
      return html`<li key=${together[0]?.id} style=${{ left: `${x}px`, height: `${place.height + 8}px` }}>
        <button type="button" class=${`pin post-${newest.kind}`} aria-label=${others === 0 ? said : `${together.length} posts, the newest: ${said}`}
          onMouseEnter=${open} onMouseLeave=${() => hidePanel(false)} onFocus=${open} onBlur=${() => hidePanel(true)} onClick=${open}>
          ${others === 0 ? '' : together.length}
        </button>
      </li>`;
    })}
  </ol>`;
}
