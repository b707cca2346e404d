import type uPlot from 'uplot';

const HOUR_S = 3_600;
export const DAY_S = 24 * HOUR_S;
/** Distances that ticks of the time axis may have: seconds and minutes here, then hours up to a year. */
export const SHORT_STEPS_S = [1, 5, 15, 30, 60, 120, 300, 600, 900, 1800];
export const STEPS_S = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 720, 2160, 8760].map((hours) => hours * HOUR_S);

const LEAST_ROOM_PX = 56;
/** Between a text and the picture, and the edge. */
const AXIS_GAP_PX = 8;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The times of ticks, in UTC whatever the reader's zone is; of days and longer steps all begin a day. */
export function ticksOf(from: number, to: number, stepS: number): number[] {
  const ticks: number[] = [];
  for (let tick = Math.ceil(from / stepS) * stepS; tick <= to; tick += stepS) ticks.push(tick);
  return ticks;
}

/**
 * The text of a tick of the time axis: its day where that begins, so that no day is named twice, else the time of day,
 * to the second where the span is short; the first tick has its day below.
 */
export function dated(tick: number, spanS: number, isFirst: boolean): string {
  const [day = '', time = ''] = new Date(tick * 1000).toISOString().split('T');
  const name = `${MONTHS[Number(day.slice(5, 7)) - 1]} ${Number(day.slice(8))}`;
  if (spanS > HOUR_S && time.startsWith('00:00')) return name;
  return `${time.slice(0, spanS < 600 ? 8 : 5)}${isFirst ? `\n${name}` : ''}`;
}

/** What the texts of the axis of values take, in pixels: the same room in all charts, unless a text needs more. */
export const roomFor = (font: string) => (plot: uPlot, texts: string[] | null) => {
  plot.ctx.save();
  plot.ctx.font = font;
  const widths = (texts ?? []).map((text) => plot.ctx.measureText(text).width);
  plot.ctx.restore();
  return Math.max(LEAST_ROOM_PX, ...widths.map((width) => Math.ceil(width) + AXIS_GAP_PX));
};
/** The text of a tick of the axis of values, without an exponent. */
export function decimalOf(tick: number): string {
  const text = String(tick);
  return text.includes('e') ? tick.toFixed(Math.abs(tick) < 1 ? 12 : 0) : text;
}
