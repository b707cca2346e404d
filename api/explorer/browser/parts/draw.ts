import uPlot from 'uplot';
import { short } from '../text/amounts.ts';
import type { Point } from './point.ts';

interface Drawing {
  points: readonly Point[];
  kind: 'bars' | 'line';
  /** Name of a colour of the style sheet. */
  colour: string;
  height: number;
  onPoint(index: number | null): void;
}

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** How far ticks of the axis of times stand apart: hours, then days, and a month of them. */
const STEPS_S = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720, 2160, 8760].map((hours) => hours * HOUR_S);

/** Draws into an element, in its width and in the colours of its scheme, again whenever one of the two changes. */
export function draw(element: HTMLElement, drawing: Drawing): { destroy(): void } {
  let plot: uPlot | null = null;
  const again = () => {
    plot?.destroy();
    plot = plotOf(element, drawing);
  };
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  scheme.addEventListener('change', again);
  let width = 0;
  const watched = new ResizeObserver(() => {
    if (element.clientWidth === width) return;
    width = element.clientWidth;
    if (plot === null) again();
    else plot.setSize({ width, height: drawing.height });
  });
  watched.observe(element);
  return {
    destroy: () => {
      watched.disconnect();
      scheme.removeEventListener('change', again);
      plot?.destroy();
    },
  };
}

function plotOf(element: HTMLElement, { points, kind, colour, height, onPoint }: Drawing): uPlot {
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const stroke = of(colour);
  const times = points.map(({ time }) => Date.parse(time) / 1000);
  const values = points.map(({ value }) => (value === null ? null : Number(value)));
  const [first, last] = around(times, kind);
  const axis = {
    stroke: of('muted'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: of('line'), width: 1 },
    ticks: { show: false },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 48], radius: 0.08 });
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false, points: { show: kind === 'line' } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      scales: {
        x: { time: true, range: () => [first, last] },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 64,
          size: 28,
          incrs: kind === 'bars' ? STEPS_S.filter((step) => step >= DAY_S) : STEPS_S,
          values: (_, ticks) => ticks.map((tick) => dated(tick, last - first)),
        },
        { ...axis, size: 56, space: 36, values: (_, ticks) => ticks.map((tick) => short(decimalOf(tick))) },
      ],
      series: [
        {},
        kind === 'bars' && bars !== undefined
          ? { stroke, fill: stroke, width: 0, paths: bars, points: { show: false } }
          : { stroke, fill: of('soft'), width: 2, points: { show: points.length < 3 }, spanGaps: false },
      ],
      hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    },
    [times, values],
    element,
  );
}

/** Room for the outermost bars, and for a single one. */
function around(times: readonly number[], kind: Drawing['kind']): [number, number] {
  const low = times[0] ?? 0;
  const high = times.at(-1) ?? 0;
  const single = high === low;
  const spare = kind === 'bars' ? (single ? 3 : 0.5) * DAY_S : single ? HOUR_S / 2 : 0;
  return [low - spare, high + spare];
}

/** A tick of the axis of times: its day, and the hour where a span is short. */
function dated(tick: number, spanS: number): string {
  const [day = '', hour = ''] = new Date(tick * 1000).toISOString().split('T');
  return spanS > 4 * DAY_S || hour.startsWith('00:00') ? day.slice(5) : hour.slice(0, 5);
}

/** The text of a tick of the axis of values, without an exponent. */
function decimalOf(tick: number): string {
  const text = String(tick);
  return text.includes('e') ? tick.toFixed(Math.abs(tick) < 1 ? 12 : 0) : text;
}
