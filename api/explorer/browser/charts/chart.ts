import { html } from '../html.ts';
import { Canvas } from './canvas.ts';
import { type Cell, Numbers } from './numbers.ts';

export interface BarsProps {
  /** What is drawn, for those who cannot see it too. */
  label: string;
  /** By days, oldest first. */
  points: readonly ({ day: string } & Cell)[];
  unit: string;
  colour: string;
}

const HEIGHT_PX = 140;

/** A bar a day, and a table of the same numbers. The picture alone turns them into floats. */
export function Bars({ label, points, unit, colour }: BarsProps) {
  const drawing = {
    times: points.map(({ day }) => `${day}T00:00:00.000Z`),
    series: [{ values: points.map(({ value }) => value), colour, look: 'bars' as const }],
    height: HEIGHT_PX,
  };
  return html`<figure class="chart">
    <${Canvas} label=${label} drawing=${drawing} />
    <${Numbers} label=${label} timeName="Day, UTC" heads=${[unit]} rows=${points.map(({ day, ...cell }) => ({ time: day, cells: [cell] }))} />
  </figure>`;
}
