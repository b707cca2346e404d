import { html } from '../html.ts';
import { BAR_SHARE, MOST_BAR_PX } from './bar.ts';
import type { PlotArea } from './draw.ts';

const DAY_S = 86_400;

/** Hatched places over a chart of bars, at days that are not known: without them they would look like zero. */
export function Holes({ days, place }: { days: readonly string[]; place: PlotArea }) {
  const pxOfS = place.width / (place.to - place.from);
  const width = Math.min(BAR_SHARE * DAY_S * pxOfS, MOST_BAR_PX);
  const at = (day: string) => place.left + (Date.parse(day) / 1000 - place.from) * pxOfS;
  return days.map(
    (day) =>
      html`<i key=${day} class="hole unknown" aria-hidden="true" style=${{ left: `${at(day)}px`, width: `${width}px`, height: `${place.height}px` }}></i>`,
  );
}
