import { useContext } from 'preact/hooks';
import type { Figure } from '../../../../schemas/figure.ts';
import { html } from '../html.ts';
import { grouped, scaled, short, type Unit } from '../text/amounts.ts';
import { span } from '../text/times.ts';
import { Asked } from './asked.ts';
import { hidePanel, type Shown, showPanel } from './panel.ts';

/** How the value of a figure is to be read. */
export type Reading =
  | { kind: 'amount'; unit: Unit }
  | { kind: 'usd' }
  | { kind: 'count' }
  | { kind: 'plain' }
  /** Seconds since something; fewer than none where it is dated ahead of our clock. */
  | { kind: 'age' };

export interface FigureProps {
  figure: Figure;
  reading: Reading;
  /** What it is the number of. */
  name: string;
  /** Leave the unit out where a heading says it. */
  bare?: boolean;
}

/** A number that says on hover, focus or tap where it comes from; where there is none, that and why. */
export function Fig({ figure, reading, name, bare = false }: FigureProps) {
  const path = useContext(Asked);
  const shown = { ...shownOf(figure, reading, name), path };
  const open = (event: Event) => showPanel(event.currentTarget as HTMLElement, shown);
  const text = figure.absent
    ? html`<span class="absent">absent</span>`
    : html`${textOf(figure, reading)}${!bare && reading.kind !== 'age' && shown.unit !== '' && html` <span class="unit">${shown.unit}</span>`}`;
  return html`<button
    type="button"
    class="figure"
    aria-haspopup="dialog"
    onMouseEnter=${open}
    onMouseLeave=${() => hidePanel(false)}
    onFocus=${open}
    onBlur=${() => hidePanel(true)}
    onClick=${open}
  ><span class="for-readers">${name}: </span>${text}</button>`;
}

function textOf({ value }: Figure, reading: Reading): string {
  const text = String(value);
  if (reading.kind === 'usd') return `$${withCents(short(dollars(text)))}`;
  if (reading.kind === 'count') return grouped(text);
  if (reading.kind === 'plain') return short(text);
  if (reading.kind === 'age')
    return `${span(Math.abs(Math.trunc(Number(text))))}${Number(text) < 0 ? ' ahead' : ''}`;
  return short(reading.unit.decimals === null ? text : scaled(text, reading.unit.decimals));
}

/** Cents are enough to read; less than a cent keeps its digits. */
function dollars(text: string): string {
  const [whole = '0', fraction = ''] = text.split('.');
  return whole === '0' && /^00/.test(fraction) ? text : `${whole}.${fraction.slice(0, 2)}`;
}

/** Cents have two digits. */
const withCents = (text: string): string =>
  /^[\d,]*[1-9][\d,]*$/.test(text) ? `${text}.00` : /\.\d$/.test(text) ? `${text}0` : text;

function shownOf(figure: Figure, reading: Reading, name: string): Shown {
  const { source, asOf, reason } = figure;
  const value = figure.value === null ? null : String(figure.value);
  const known = { name, source, asOf, reason: reason ?? null, absent: figure.absent === true, value };
  if (reading.kind === 'usd') return { ...known, unit: '', exact: `$${grouped(value ?? '')}`, base: null };
  if (reading.kind === 'age') return { ...known, unit: 's', exact: grouped(value ?? ''), base: null };
  if (reading.kind === 'plain') return { ...known, unit: '', exact: grouped(value ?? ''), base: null };
  if (reading.kind === 'count') return { ...known, unit: '', exact: grouped(value ?? ''), base: null };
  const { decimals, symbol, mint } = reading.unit;
  const more = mint === undefined ? [] : [['Asset', mint] as const];
  if (decimals === null)
    return {
      ...known,
      more,
      unit: 'base units',
      exact: grouped(value ?? ''),
      base: 'decimals are not known',
    };
  const exact = value === null ? '' : grouped(scaled(value, decimals));
  return {
    ...known,
    more,
    unit: symbol ?? '',
    exact,
    base: `${grouped(value ?? '')} base units, ${decimals} decimals`,
  };
}
