import type uPlot from 'uplot';

const GAP_PX = 4;
const WIDTH_PX = 10;
/** The room for the column beside the picture. */
export const BESIDE_PX = 20;

interface Standing {
  values: readonly (string | null)[];
  colour: string;
  look: string;
}

/** Draws the newest values as a column beside the picture, as their line would be too short to see. */
export function drawColumn(
  plot: uPlot,
  series: readonly Standing[],
  colourOf: (name: string) => string,
): void {
  const { ctx, bbox } = plot;
  const pixel = devicePixelRatio;
  const left = bbox.left + bbox.width + GAP_PX * pixel;
  const width = WIDTH_PX * pixel;
  const known = series.flatMap(({ values, look, colour }) => {
    const value = values.at(-1);
    return value == null
      ? []
      : [{ look, colour: colourOf(colour), y: Math.round(plot.valToPos(Number(value), 'y', true)) }];
  });
  const areas = known.filter(({ look }) => look === 'area');
  ctx.save();
  for (const [at, { y, colour }] of areas.entries()) {
    const below = areas[at + 1]?.y ?? plot.valToPos(0, 'y', true);
    ctx.fillStyle = soft(colour);
    ctx.fillRect(left, y, width, below - y);
  }
  for (const { look, y, colour } of known) {
    ctx.fillStyle = colour;
    // A mark is wider than the column, or the line of an area could hide it.
    const beyond = look === 'mark' ? (GAP_PX - 1) * pixel : 0;
    ctx.fillRect(left - beyond, y - pixel, width + 2 * beyond, 2 * pixel);
  }
  ctx.restore();
}

/** A colour of the style sheet, #rrggbb, made translucent. */
export const soft = (colour: string) => `${colour}66`;
