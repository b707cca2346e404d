/** Amounts are decimal strings throughout: they are cut and grouped as text, never through a float. */

export interface Unit {
  /** Null where the decimals are not known: then base units are shown, and labelled so. */
  decimals: number | null;
  symbol: string | null;
  /** The mint of the asset, where that is known: a symbol does not identify it, as anybody may choose any. */
  mint?: string;
}

const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(\.\d+)?$/;

/** The exact decimal text of an amount in base units, without trailing zeros. */
export function scaled(base: string, decimals: number): string {
  if (!INTEGER.test(base)) return base;
  const sign = base.startsWith('-') ? '-' : '';
  const digits = base.replace('-', '').padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/^0+(?=\d)/, '');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${sign}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A number written with an exponent, such as `1e-7`, written out digit by digit. */
export function writtenOut(number: string): string {
  const [, sign, whole = '', fraction = '', power] = /^(-?)(\d+)(?:\.(\d+))?e([+-]?\d+)$/.exec(number) ?? [];
  if (sign === undefined) return number;
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}${point < digits.length ? `.${digits.slice(point)}` : ''}`;
}

/** Digits in groups of three. */
export function grouped(decimal: string): string {
  if (!DECIMAL.test(decimal)) return decimal;
  const [whole = '', fraction] = decimal.split('.');
  const spaced = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

/** The text of the base units beside an amount in whole tokens. */
export const inBaseUnits = (base: string, decimals: number | null): string =>
  decimals === null ? 'decimals are not known' : `${grouped(base)} base units, ${decimals} decimals`;

const STEPS: readonly [digits: number, suffix: string][] = [
  [15, 'Q'],
  [12, 'T'],
  [9, 'B'],
  [6, 'M'],
];

/** With more digits or leading zeros a number is too wide for its place and is written with a power of ten. */
const MOST_DIGITS = 21;
const MOST_ZEROS = 6;

/**
 * Short text of a decimal: cut off, never rounded up. A small amount keeps its first three digits, so that only zero
 * looks like zero.
 */
export function short(decimal: string): string {
  if (!DECIMAL.test(decimal)) return decimal;
  const sign = decimal.startsWith('-') ? '−' : '';
  const [whole = '0', fraction = ''] = decimal.replace('-', '').split('.');
  const zeros = fraction.search(/[1-9]/);
  if (whole.length > MOST_DIGITS) return `${sign}${withPower(whole, whole.length - 1)}`;
  if (whole === '0' && zeros > MOST_ZEROS) return `${sign}${withPower(fraction.slice(zeros), -zeros - 1)}`;
  for (const [digits, suffix] of STEPS) {
    if (whole.length <= digits) continue;
    const head = whole.slice(0, -digits);
    const rest = `${whole.slice(-digits)}${fraction}`.slice(0, 2);
    return `${sign}${grouped(head)}.${rest}${suffix}`;
  }
  const places = whole !== '0' ? (whole.length > 3 ? 2 : 4) : zeros + 3;
  const cut = fraction.slice(0, places).replace(/0+$/, '');
  return `${sign}${grouped(whole)}${cut === '' ? '' : `.${cut}`}`;
}

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `1.23×10⁻¹⁹`, made of the digits from the first significant one on. */
function withPower(digits: string, power: number): string {
  const rest = digits.slice(1, 3).replace(/0+$/, '');
  const raised = [...String(Math.abs(power))].map((digit) => RAISED[Number(digit)]).join('');
  return `${digits.slice(0, 1)}${rest === '' ? '' : `.${rest}`}×10${power < 0 ? '⁻' : ''}${raised}`;
}

/** Parts of a whole in per mille, for widths of bars; null where one is absent or negative, or all are zero. */
export function shares(amounts: readonly (string | null)[]): number[] | null {
  if (amounts.some((amount) => amount === null || !INTEGER.test(amount) || amount.startsWith('-')))
    return null;
  const numbers = amounts.map((amount) => BigInt(amount as string));
  const total = numbers.reduce((sum, amount) => sum + amount, 0n);
  if (total === 0n) return null;
  return numbers.map((amount) => Number((amount * 1000n) / total));
}
