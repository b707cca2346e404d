import { useContext } from 'preact/hooks';
import { html } from '../html.ts';
import { Asked } from '../parts/asked.ts';
import type { Shown } from '../parts/panel.ts';
import { Text } from '../parts/text.ts';
import { grouped } from '../text/amounts.ts';
import { readable } from '../text/words.ts';
import { Canvas } from './canvas.ts';
import type { PlotArea } from './draw.ts';
import { Holes } from './holes.ts';
import { type Cell, Numbers } from './numbers.ts';

export type Point = {
  day: string;
  /** The value in base units, in the panel's words. */
  base: string | null;
  source: string;
} & Cell;

export interface BarsProps {
  /** What is drawn: also the text alternative of the picture. */
  label: string;
  /** By days, oldest first. */
  points: readonly Point[];
  unit: string;
  colour: string;
}

const HEIGHT_PX = 140;
/** A bar is centred on the beginning of its day, so half of it lies before. */
const HALF_A_DAY_S = 43_200;

/** One bar a day, and a table of the same numbers. Only the picture turns them into floats. */
export function Bars({ label, points, unit, colour }: BarsProps) {
  const path = useContext(Asked);
  const drawing = {
    times: points.map(({ day }) => `${day}T00:00:00.000Z`),
    series: [{ values: points.map(({ value }) => value), colour, look: 'bars' as const }],
    height: HEIGHT_PX,
    earlyS: HALF_A_DAY_S,
    // The days between those of the series have no bar, and no number here.
    lateS: HALF_A_DAY_S,
  };
  const unknown = points.filter(({ value }) => value === null);
  const newest = unknown.at(-1);
  const days = unknown.map(({ day }) => day);
  return html`<figure class="chart">
    <${Canvas} label=${label} drawing=${drawing} over=${(place: PlotArea) => html`<${Holes} days=${days} place=${place} />`}
      told=${(at: number) => ({ ...shownOf(label, unit, points[at] as Point), path })} />
    ${
      newest !== undefined &&
      html`<p class="note">A hatched day is not known, which is not zero. The newest, ${newest.day}: <${Text} text=${readable(newest.reason ?? '')} />.</p>`
    }
    <${Numbers} label=${label} timeName="Day, UTC" heads=${[unit]} rows=${points.map(({ day, value, reason }) => ({ time: day, cells: [{ value, reason }] }))} />
  </figure>`;
}

const shownOf = (label: string, unit: string, { day, value, reason, base, source }: Point): Shown => ({
  name: `${label}: ${day}`,
  ...{ value, exact: grouped(value ?? ''), unit, base, source, absent: value === null, reason },
});
