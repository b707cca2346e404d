import { Canvas } from '../charts/canvas.ts';
import type { PlotArea } from '../charts/draw.ts';
import { Numbers } from '../charts/numbers.ts';
import { type Children, html } from '../html.ts';
import { Text } from '../parts/text.ts';
import type { Unit } from '../text/amounts.ts';
import { stamp } from '../text/times.ts';
import { readable } from '../text/words.ts';
import { cellsOf, HEADS, PARTS, shownOf, unitName } from './moment.ts';
import { type Amount, cellOf, equityOf, heldOn, isWhole, onChainOf, type Row, unknownOf } from './rows.ts';

const HEIGHT_PX = 240;

export interface HoldingsProps {
  rows: readonly Row[];
  quote: Unit;
  /** Whose equity it is, as the beginning of a label. */
  name: string;
  /** The picture begins no later than here. */
  from: string | undefined;
  /** The path of the API that has the numbers of a time. */
  pathAt(time: string): string | null;
  /** What is drawn over the picture, given where its plot area is. */
  over?: (place: PlotArea) => Children;
}

/** Equity over time and what it is made of, and a table of the same numbers. */
export function Holdings({ rows, quote, name, from, pathAt, over }: HoldingsProps) {
  const text = (amount: Amount) => cellOf(amount, quote.decimals).value;
  const drawn = (of: (row: Row) => Amount) => ({
    values: rows.map((row) => text(of(row))),
    held: heldOn(rows, of).map(text),
  });
  const newest = rows.at(-1);
  // A sample may be of the second at which an hour ends.
  const isOfNow = newest !== undefined && (newest.seen !== undefined || !isWhole(newest.time, 'hour'));
  const drawing = {
    times: rows.map(({ time }) => time),
    series: [
      { ...drawn(equityOf), colour: 'purse-remote', look: 'area' as const },
      { ...drawn(onChainOf), colour: 'purse-local', look: 'area' as const },
      { ...drawn(({ bankroll }) => bankroll), colour: 'purse-bankroll', look: 'area' as const },
      { ...drawn(({ hwm }) => hwm), colour: 'ink', look: 'mark' as const },
    ],
    height: HEIGHT_PX,
    isOfNow,
    ...(from === undefined ? {} : { from }),
  };
  const unknown = unknownOf(rows);
  const unseen = rows.findLast((row) => row.isUnseen)?.hwm.reason;
  const unit = unitName(quote);
  const label = `${name} over time, in ${unit}`;
  return html`<figure class="chart equity">
    <p class="legend">
      <span>In ${unit}, times in UTC</span>
      ${PARTS.map(([part, purse]) => html`<span key=${purse}><i class=${`purse ${purse}`} aria-hidden="true"></i>${part}</span>`)}
      <span><i class="dashed" aria-hidden="true"></i>High water mark</span>
      ${unseen != null && html`<span><i class="dotted" aria-hidden="true"></i>Known last, not looked at since</span>`}
      ${isOfNow && html`<span><i class="column" aria-hidden="true"></i>Column at the right: the newest</span>`}
    </p>
    <${Canvas} label=${label} drawing=${drawing} over=${over} told=${(at: number) => shownOf(rows[at] as Row, { quote, name, pathAt })} />
    ${
      unknown !== null &&
      html`<p class="note">Where a part is missing in the picture it is not known, which is not zero, and a ring is known of its moment alone; the numbers below say when and why.${' '}
        The newest reason: <${Text} text=${readable(unknown)} />.</p>`
    }
    ${unseen != null && html`<p class="note">Where the lines are dotted they are what was known last: <${Text} text=${readable(unseen)} />.</p>`}
    <${Numbers} label=${label} timeName="Time, UTC" heads=${HEADS.map((head) => `${head}, ${unit}`)}
      rows=${rows.map((row) => ({ time: stamp(row.time), cells: cellsOf(row, quote) }))} />
  </figure>`;
}
