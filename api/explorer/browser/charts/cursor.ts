import { html } from '../html.ts';
import { hidePanel, type Shown, showPanel } from '../parts/panel.ts';
import { BESIDE_PX } from './column.ts';
import type { PlotArea } from './draw.ts';

export interface CursorProps {
  /** ISO 8601, rising. */
  times: readonly string[];
  /** How many seconds before its time what is drawn of each begins. */
  earlyS: number;
  /** How many seconds after its time that ends, where it does not go on until the next begins. */
  lateS: number | undefined;
  place: PlotArea;
  /** Whether the last time has a column beside the picture. */
  isOfNow: boolean;
  /** What the panel shows for the time at an index. */
  told(at: number): Shown;
}

/** The room that the picture leaves above its plot area. */
const ABOVE_PX = 8;

/** A line over a chart at the pointer, or where it was tapped; the panel shows the numbers of that time. */
export function Cursor({ times, earlyS, lateS, place, isOfNow, told }: CursorProps) {
  const point = (event: PointerEvent) => {
    const area = event.currentTarget as HTMLElement;
    const line = area.firstElementChild as HTMLElement;
    const within = event.clientX - area.getBoundingClientRect().left;
    const seconds = place.from + (within / place.width) * (place.to - place.from);
    const unix = (time: string) => Date.parse(time) / 1000;
    const at = times.findLastIndex((time) => unix(time) - earlyS <= seconds);
    line.hidden = at === -1 || (lateS !== undefined && seconds > unix(times[at] as string) + lateS);
    if (line.hidden) return hidePanel(false);
    // Moved first, as the panel is placed beside the line.
    line.style.left = `${within}px`;
    showPanel(line, told(at));
  };
  return html`<div class="cursor-area" aria-hidden="true" onPointerMove=${point} onClick=${point} onPointerLeave=${() => hidePanel(false)}
    style=${{ left: `${place.left}px`, width: `${place.width + (isOfNow ? BESIDE_PX : 0)}px`, height: `${place.height + ABOVE_PX}px` }}><i class="cursor"></i></div>`;
}
