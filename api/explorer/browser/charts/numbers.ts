import { html } from '../html.ts';
import { Pointed } from '../parts/pointed.ts';
import { grouped } from '../text/amounts.ts';

/** One number of a chart. */
export interface Cell {
  /** Exact decimal text; null where it is absent. */
  value: string | null;
  /** Why it is absent. */
  reason: string | null;
}

export interface NumbersProps {
  /** What the table is of. */
  label: string;
  /** The head of the column of times. */
  timeName: string;
  /** The head of each column of numbers. */
  heads: readonly string[];
  /** Oldest first, as a chart has them; the table shows the newest first. */
  rows: readonly { time: string; cells: readonly Cell[] }[];
}

/** An absent number: its panel shows why, on hover, focus or tap. */
function Absent({ name, reason }: { name: string; reason: string | null }) {
  const shown = {
    name,
    reason,
    absent: true,
    value: null,
    exact: '',
    unit: '',
    base: null,
    source: '',
    asOf: null,
  };
  return html`<${Pointed} shown=${shown} />`;
}

/** The numbers of a chart as a table, for people who would rather read them. */
export function Numbers({ label, timeName, heads, rows }: NumbersProps) {
  return html`<details>
    <summary>The numbers</summary>
    <div class="table-frame" tabindex="0" role="group" aria-label=${`${label}, as a table`}><table>
      <caption class="for-readers">${label}</caption>
      <thead><tr><th scope="col">${timeName}</th>${heads.map((head) => html`<th key=${head} scope="col" class="number">${head}</th>`)}</tr></thead>
      <tbody>${rows.toReversed().map(
        ({ time, cells }, row) => html`<tr key=${rows.length - row}>
          <th scope="row">${time}</th>
          ${cells.map(
            ({ value, reason }, at) =>
              html`<td key=${heads[at]} class="number">${
                value === null
                  ? html`<${Absent} name=${`${heads[at]}, ${time}`} reason=${reason} />`
                  : grouped(value)
              }</td>`,
          )}
        </tr>`,
      )}</tbody>
    </table></div>
  </details>`;
}
