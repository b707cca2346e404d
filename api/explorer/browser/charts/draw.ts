import uPlot from 'uplot';
import { short } from '../text/amounts.ts';
import { BAR_SHARE, MOST_BAR_PX } from './bar.ts';
import { BESIDE_PX, drawColumn, soft } from './column.ts';
import { DAY_S, dated, decimalOf, roomFor, SHORT_STEPS_S, STEPS_S, ticksOf } from './ticks.ts';

/** Bars stand side by side; areas are drawn over each other, the largest first; a mark is a dashed line. */
export type Look = 'bars' | 'area' | 'mark';

export interface Series {
  /** Exact decimal texts, one for each time; null where absent: the picture has a hole there. */
  values: readonly (string | null)[];
  /** For the same times, the value that is drawn on as a dotted line where nothing is known; else null. */
  held?: readonly (string | null)[];
  /** Name of a colour of the style sheet. */
  colour: string;
  look: Look;
}

export interface Drawing {
  /** ISO 8601, rising. */
  times: readonly string[];
  series: readonly Series[];
  /** How many seconds before its time what is drawn of each begins. */
  earlyS?: number;
  /** How many seconds after its time that ends; without it, when the next begins. */
  lateS?: number;
  /** The picture begins no later than here. */
  from?: string;
  /** Whether the last time is now: it has a column beside the picture. */
  isOfNow?: boolean;
  height: number;
  /** Called with where the plot area is, in pixels of the element, and the times at its ends. */
  onPlaced?(area: PlotArea): void;
}

export interface PlotArea {
  left: number;
  width: number;
  height: number;
  /** Unix seconds. */
  from: number;
  to: number;
}

export interface Drawn {
  /** The same series with other numbers. */
  update(drawing: Drawing): void;
  destroy(): void;
}

/** Draws into an element, in its width and in the colours of its scheme; draws again when either changes. */
export function draw(element: HTMLElement, first: Drawing): Drawn {
  let drawing = first;
  let plot: uPlot | null = null;
  const again = () => {
    plot?.destroy();
    plot = plotOf(element, () => drawing);
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
    update: (next) => {
      drawing = next;
      plot?.setData(dataOf(next));
    },
    destroy: () => {
      watched.disconnect();
      scheme.removeEventListener('change', again);
      plot?.destroy();
    },
  };
}

const dataOf = ({ times, series }: Drawing): uPlot.AlignedData => [
  times.map((time) => Date.parse(time) / 1000),
  ...[...series.map(({ values }) => values), ...series.flatMap(({ held }) => (held ? [held] : []))].map(
    (values) => values.map((value) => (value === null ? null : Number(value))),
  ),
];

function plotOf(element: HTMLElement, current: () => Drawing): uPlot {
  const { series, height } = current();
  const style = getComputedStyle(element);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const bars = uPlot.paths.bars?.({ size: [BAR_SHARE, MOST_BAR_PX], radius: 0.08 });
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const areBars = series.some(({ look }) => look === 'bars');
  const axis = {
    stroke: of('muted'),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: of('line'), width: 1 },
    ticks: { show: false },
  };
  const drawnAs = ({ look, colour }: Series): uPlot.Series => {
    const stroke = of(colour);
    if (look === 'bars' && bars !== undefined)
      return { stroke, fill: stroke, width: 0, paths: bars, points: { show: false } };
    const points = { show: () => !current().isOfNow && known(current()) < 2, filter: alone(current) };
    const line = { stroke, width: 2, spanGaps: false, points };
    const path = stepped === undefined ? {} : { paths: stepped };
    return look === 'mark'
      ? { ...line, ...path, width: 1.5, dash: [5, 4] }
      : { ...line, ...path, fill: soft(stroke) };
  };
  const heldAs = ({ colour, held }: Series): uPlot.Series[] => {
    const line = { stroke: of(colour), width: 2, dash: [2, 4], spanGaps: false, points: { show: false } };
    return held === undefined ? [] : [stepped === undefined ? line : { ...line, paths: stepped }];
  };
  const ends = () => {
    const { from } = current();
    const [low, high] = around(dataOf(current())[0] as number[], areBars);
    return [from === undefined ? low : Math.min(low, Date.parse(from) / 1000), high] as [number, number];
  };
  // Each area is filled down to the next only: being translucent, they would otherwise mix.
  const areas = series.flatMap(({ look }, at) => (look === 'area' ? [at + 1] : []));
  const bands = areas.slice(0, -1).map((upper, at) => ({
    series: [upper, areas[at + 1] as number] as [number, number],
    fill: soft(of(series[upper - 1]?.colour ?? '')),
  }));
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      padding: [8, BESIDE_PX, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
      scales: {
        x: { time: true, range: ends },
        y: { range: (_, low, high) => [Math.min(0, low ?? 0), high > 0 ? high * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 64,
          size: areBars ? 28 : 40,
          incrs: areBars ? STEPS_S.filter((step) => step >= DAY_S) : [...SHORT_STEPS_S, ...STEPS_S],
          splits: (_, __, from, to, step) => ticksOf(from, to, step),
          values: (_, ticks) => {
            const [from, to] = ends();
            return ticks.map((tick, at) => dated(tick, to - from, at === 0));
          },
        },
        {
          ...axis,
          size: roomFor(axis.font),
          space: 28,
          values: (_, ticks) => ticks.map((tick) => short(decimalOf(tick))),
        },
      ],
      series: [{}, ...series.map(drawnAs), ...series.flatMap(heldAs)],
      bands,
      hooks: {
        draw: [
          (plot) => {
            const { bbox } = plot;
            if (current().isOfNow) drawColumn(plot, current().series, of);
            const [from, to] = ends();
            const pixel = devicePixelRatio;
            const { left, width, height: tall } = bbox;
            current().onPlaced?.({
              left: left / pixel,
              width: width / pixel,
              height: tall / pixel,
              from,
              to,
            });
          },
        ],
      },
    },
    dataOf(current()),
    element,
  );
}

const known = ({ series }: Drawing) =>
  Math.max(...series.map(({ values }) => values.filter((value) => value !== null).length));

/** A narrower line is hidden by the ends of what is drawn beside it. */
const LEAST_PX = 3;

/**
 * The indices that get a point: values known for so short a time, between unknown ones, that their line cannot be seen.
 * Not where a dotted line leads to it or on from it, and not for now, which has a column.
 */
const alone = (current: () => Drawing) => (plot: uPlot, at: number, areAll: boolean) => {
  if (areAll) return null;
  const [times, values] = [plot.data[0], [...(plot.data[at] ?? [])]];
  const { series, isOfNow } = current();
  const held = series[at - 1]?.held ?? [];
  const x = (index: number) => plot.valToPos(times[index] as number, 'x');
  const ends = values.flatMap((value, index) => (value != null && values[index + 1] == null ? [index] : []));
  return ends.filter((end) => {
    const first = values.findLastIndex((value, index) => index < end && value == null) + 1;
    if (held[first] != null || held[end + 1] != null || (isOfNow && end === values.length - 1)) return false;
    return x(end) - x(first) < LEAST_PX;
  });
};

/** The ends of the time axis, in unix seconds, with room for the outermost bars, and for a single one. */
function around(times: readonly number[], bars: boolean): [number, number] {
  const low = times[0] ?? 0;
  const high = times.at(-1) ?? 0;
  const single = high === low;
  const spare = bars ? (single ? 3 : 0.5) * DAY_S : single ? 30 : 0;
  return [low - spare, high + spare];
}
