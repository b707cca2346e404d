import { useContext } from 'preact/hooks';
import { html } from '../html.ts';
import { grouped, inBaseUnits, scaled, short, type Unit, writtenOut } from '../text/amounts.ts';
import { span } from '../text/times.ts';
import { percent } from '../text/words.ts';
import { Asked } from './asked.ts';
import type { Told } from './bare.ts';
import type { Shown } from './panel.ts';
import { Pointed } from './pointed.ts';

/** How the value of a figure is to be read. */
export type Reading =
  | { kind: 'amount'; unit: Unit }
  | { kind: 'usd' }
  /** Dollars for one of something: all of its digits count. */
  | { kind: 'price' }
  /** Basis points, as per cent. */
  | { kind: 'share' }
  | { kind: 'count' }
  | { kind: 'plain' }
  /** Seconds since something; negative where that is dated ahead of our clock. */
  | { kind: 'age' };

export interface FigureProps {
  figure: Told;
  reading: Reading;
  /** What the number is of. */
  name: string;
  /** Whether to leave the unit out, as where a heading says it. */
  bare?: boolean;
}

/** A number whose panel shows where it comes from on hover, focus or tap; an absent one shows why. */
export function Fig({ figure, reading, name, bare = false }: FigureProps) {
  const path = useContext(Asked);
  const shown = { ...shownOf(figure, reading, name), path };
  return html`<${Pointed} shown=${shown}>${textOf(figure, reading)}${
    !bare && reading.kind !== 'age' && shown.unit !== '' && html` <span class="unit">${shown.unit}</span>`
  }<//>`;
}

function textOf({ value }: Told, reading: Reading): string {
  const text = String(value);
  if (reading.kind === 'usd') return `$${withCents(short(dollars(text)))}`;
  if (reading.kind === 'price') return `$${grouped(writtenOut(text))}`;
  if (reading.kind === 'share') return percent(Number(text));
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

/** Pads the cents to two digits. */
const withCents = (text: string): string =>
  /^[\d,]*[1-9][\d,]*$/.test(text) ? `${text}.00` : /\.\d$/.test(text) ? `${text}0` : text;

function shownOf(figure: Told, reading: Reading, name: string): Shown {
  const { source, asOf, reason } = figure;
  const value = figure.value === null ? null : String(figure.value);
  const known = {
    ...{ name, source, reason: reason ?? null, absent: figure.absent === true, value },
    ...(asOf === undefined ? {} : { asOf }),
  };
  if (reading.kind === 'usd' || reading.kind === 'price')
    return { ...known, unit: '', exact: `$${grouped(writtenOut(value ?? ''))}`, base: null };
  if (reading.kind === 'share')
    return {
      ...known,
      unit: '',
      exact: percent(Number(value)),
      base: `${grouped(value ?? '')} basis points`,
    };
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
      base: inBaseUnits('', decimals),
    };
  const exact = value === null ? '' : grouped(scaled(value, decimals));
  return {
    ...known,
    more,
    unit: symbol ?? '',
    exact,
    base: inBaseUnits(value ?? '', decimals),
  };
}
