import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.ts';
import { grouped } from '../text/amounts.ts';
import { plainText } from '../text/visible.ts';
import type { Point } from './point.ts';

export interface ChartProps {
  /** What is drawn, for those who cannot see it too. */
  label: string;
  points: readonly Point[];
  unit: string;
  /** How times are written in the table. */
  timeName: string;
  written: (time: string) => string;
  kind: 'bars' | 'line';
  colour: string;
  height?: number;
  onPoint?: (index: number | null) => void;
}

/**
 * A picture of numbers and a table of the same. The picture alone turns them into floats; where one is absent it
 * leaves a hole.
 */
export function Chart(props: ChartProps) {
  const { label, points, unit, timeName, written } = props;
  return html`<figure class="chart">
    <${Canvas} ...${props} />
    <details>
      <summary>The numbers</summary>
      <div class="table-frame" tabindex="0" role="group" aria-label=${`${label}, as a table`}><table>
        <caption class="for-readers">${label}</caption>
        <thead><tr><th scope="col">${timeName}</th><th scope="col" class="number">${unit}</th></tr></thead>
        <tbody>${points.toReversed().map(
          ({ time, value, reason }) => html`<tr key=${time}>
            <th scope="row">${written(time)}</th>
            <td class="number">${value === null ? html`<span class="absent" title=${plainText(reason ?? '')}>absent</span>` : grouped(value)}</td>
          </tr>`,
        )}</tbody>
      </table></div>
    </details>
  </figure>`;
}

function Canvas({ label, points, kind, colour, height = 140, onPoint }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const known = JSON.stringify(points);
  // The points by what they say.
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    let gone = false;
    let drawn: { destroy(): void } | null = null;
    import('./draw.ts').then(({ draw }) => {
      if (!gone)
        drawn = draw(element, { points, kind, colour, height, onPoint: onPoint ?? (() => undefined) });
    });
    return () => {
      gone = true;
      drawn?.destroy();
    };
  }, [known, kind, colour, height]);
  return html`<div ref=${holder} class="canvas" role="img" aria-label=${label} style=${{ height: `${height}px` }}></div>`;
}
