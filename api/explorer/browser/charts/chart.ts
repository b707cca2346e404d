import { html } from '../html.ts';
import type { Shown } from '../parts/panel.ts';
import { grouped } from '../text/amounts.ts';
import { Canvas } from './canvas.ts';
import { type Cell, Numbers } from './numbers.ts';

export type Point = { day: string } & Cell;

export interface BarsProps {
  /** What is drawn, for those who cannot see it too. */
  label: string;
  /** By days, oldest first. */
  points: readonly Point[];
  unit: string;
  colour: string;
}

const HEIGHT_PX = 140;
/** A bar stands over the beginning of its day. */
const HALF_A_DAY_S = 43_200;

/** A bar a day, and a table of the same numbers. The picture alone turns them into floats. */
export function Bars({ label, points, unit, colour }: BarsProps) {
  const drawing = {
    times: points.map(({ day }) => `${day}T00:00:00.000Z`),
    series: [{ values: points.map(({ value }) => value), colour, look: 'bars' as const }],
    height: HEIGHT_PX,
    earlyS: HALF_A_DAY_S,
  };
  return html`<figure class="chart">
    <${Canvas} label=${label} drawing=${drawing} told=${(at: number) => shownOf(label, unit, points[at] as Point)} />
    <${Numbers} label=${label} timeName="Day, UTC" heads=${[unit]} rows=${points.map(({ day, ...cell }) => ({ time: day, cells: [cell] }))} />
  </figure>`;
}

const shownOf = (label: string, unit: string, { day, value, reason }: Point): Shown => ({
  name: `${label}: ${day}`,
  ...{ value, exact: grouped(value ?? ''), unit, base: null, source: '', absent: value === null, reason },
});
