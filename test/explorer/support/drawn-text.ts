import type { Drawn } from './drawn-figures.ts';

/** How a drawn number differs from the API's figure that it should show; empty where it does not. */
export function wrongWith({ name, text, panel }: Drawn, { figure, reading }: Expected): string[] {
  const wrong: string[] = [];
  const same = (what: string, drawn: string | undefined, told: string | undefined) => {
    if (drawn !== told) wrong.push(`${what} is ${drawn}, not ${told}`);
  };
  if (figure.absent === true) {
    same('what is drawn', text, 'absent');
    same('the reason', panel.rows.Why, figure.reason);
    return wrong;
  }
  same('the source', panel.rows.Source, figure.source);
  if (typeof figure.asOf === 'string')
    same('the time', panel.rows['As of']?.slice(0, 23), `${figure.asOf.slice(0, 19).replace('T', ' ')} UTC`);
  const { digits, scale } = decimalOf(String(figure.value), reading);
  if (typeof reading === 'number')
    same('base units', panel.rows.Exactly, `${commas(String(figure.value))} base units, ${reading} decimals`);
  const [exact = ''] = panel.value.split(' ');
  const told = drawnDecimal(exact);
  if (told === null || told.digits * 10n ** BigInt(scale) !== digits * 10n ** BigInt(told.scale))
    wrong.push(`the panel says ${exact} for ${figure.value}`);
  if (reading === 'age') return wrong;
  const [short = ''] = text.split(' ');
  const seen = drawnDecimal(short);
  if (seen === null || !isCutOf(seen, { digits, scale }, reading === 'usd'))
    wrong.push(`${name}: ${text} is drawn for ${figure.value} (${reading})`);
  return wrong;
}

/** The figure that a number should show, and its decimals or how else it is read. */
export interface Expected {
  figure: { value: unknown; source: string; asOf?: unknown; absent?: boolean; reason?: string };
  reading: number | 'base' | 'usd' | 'count' | 'age' | 'share';
}

interface Decimal {
  digits: bigint;
  /** Digits behind the point; negative for a number in a larger unit. */
  scale: number;
}

/** The value that is served, exactly. */
function decimalOf(value: string, reading: Expected['reading']): Decimal {
  const [mantissa = '', power = '0'] = value.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(`${whole}${fraction}`);
  const scale =
    typeof reading === 'number' ? reading : reading === 'share' ? 2 : fraction.length - Number(power);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

const POWERS: Record<string, number> = { M: 6, B: 9, T: 12, Q: 15, '%': 0, '×': 0, '': 0 };
const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** The number that a reader sees in a text; null where it is not a number. */
export function drawnDecimal(text: string): Decimal | null {
  const [, sign, whole = '', fraction = '', suffix = '', power] =
    /^([−-]?)\$?([\d,]+)(?:\.(\d+))?([MBTQ%×]?)(?:10(⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$/.exec(text) ?? [];
  if (sign === undefined) return null;
  const digits = BigInt(`${whole.replaceAll(',', '')}${fraction}`);
  const raised =
    power === undefined
      ? 0
      : Number([...power].map((letter) => (letter === '⁻' ? '-' : RAISED.indexOf(letter))).join(''));
  return { digits: sign === '' ? digits : -digits, scale: fraction.length - (POWERS[suffix] ?? 0) - raised };
}

const magnitude = (value: bigint) => (value < 0n ? -value : value);

/**
 * Whether a text is the number, or the number with its last digits cut off: never more, never zero, never another sign,
 * and never a hundredth less, but where cents are all that is read.
 */
export function isCutOf(seen: Decimal, whole: Decimal, toCents = false): boolean {
  const scale = Math.max(seen.scale, whole.scale, 0);
  const [cut, all] = [seen, whole].map((of) => of.digits * 10n ** BigInt(scale - of.scale)) as [
    bigint,
    bigint,
  ];
  if (cut < 0n !== all < 0n || (cut === 0n) !== (all === 0n)) return false;
  const lost = magnitude(all) - magnitude(cut);
  const isShort = lost * 100n <= magnitude(all) || (toCents && seen.scale === 2);
  return lost >= 0n && lost < 10n ** BigInt(scale - seen.scale) && isShort;
}

const commas = (digits: string) => digits.replaceAll(/\B(?=(\d{3})+$)/g, ',');

/** Numbers of a page that differ from the API's, are drawn and not expected, or are expected and not drawn. */
export function differences(drawn: readonly Drawn[], expected: ReadonlyMap<string, Expected>): string[] {
  const seen = new Set<string>();
  const wrong = drawn.flatMap((one) => {
    const place = `${one.scope}|${one.name}`;
    const figure = expected.get(place) ?? expected.get(`|${one.name}`);
    seen.add(expected.has(place) ? place : `|${one.name}`);
    if (figure === undefined) return [`${place}: ${one.text} is drawn, and nothing like it expected`];
    return wrongWith(one, figure).map((what) => `${place}: ${what}`);
  });
  const missing = [...expected.keys()].filter((place) => !seen.has(place));
  return [...wrong, ...missing.map((place) => `${place} is not drawn`)];
}
