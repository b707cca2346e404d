export const HOUR_S = 3_600;
export const DAY_S = 24 * HOUR_S;
export const HOUR_MS = HOUR_S * 1000;

/** Hours since 1970; null stays null. */
export const hourOf = (unixSeconds: number | null): number | null =>
  unixSeconds === null ? null : Math.floor(unixSeconds / HOUR_S);

/** ISO 8601 UTC with milliseconds of unix seconds; the one form in which times are served. */
export function isoTime(unixSeconds: number | bigint): string {
  return isoMillis(Number(unixSeconds) * 1000);
}

/** Times as written last: the figures of one answer share a few, and to write one takes longer than all the rest. */
const written = Array.from({ length: 1_024 }, () => ({ millis: 0, text: new Date(0).toISOString() }));

/** The last time that the form can express, in unix milliseconds. */
const LAST_MILLIS = 253_402_300_799_999;

/** Whether a value from outside is a time since 1970 that can be served as it was given. */
export function isUnixMillis(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_MILLIS;
}

/** ISO 8601 UTC of unix milliseconds, held inside the years that the form can express. */
export function isoMillis(millis: number): string {
  const last = written[(millis / 1000) & 1_023] as (typeof written)[number];
  if (millis === last.millis) return last.text;
  const bounded = Math.min(Math.max(Math.trunc(millis), -62_167_219_200_000), LAST_MILLIS);
  last.text = new Date(bounded).toISOString();
  last.millis = millis;
  return last.text;
}

/** ISO 8601 of unix seconds as the store gives them; null stays null. */
export function timeOf(unixSeconds: string | null): string | null {
  return unixSeconds === null ? null : isoTime(Number(unixSeconds));
}

/** ISO 8601 of unix milliseconds as the store gives them; null stays null. */
export function timeOfMillis(millis: string | null): string | null {
  return millis === null ? null : isoMillis(Number(millis));
}

/** Digits and scale of a decimal: value = digits / 10^scale. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

const DECIMAL = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Reads a decimal text, exponents included; null where it is none or longer than 60 digits a side. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction) * (sign === '-' ? -1n : 1n);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

/** The shortest text of a decimal's number, digits and one point at most; a text that is no decimal, unchanged. */
export function shortestDecimal(text: string): string {
  const decimal = parseDecimal(text);
  if (decimal === null) return text;
  const { digits, scale } = decimal;
  const sign = digits < 0n ? '-' : '';
  const all = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0');
  if (scale === 0) return sign + all;
  const fraction = all.slice(-scale).replace(/0+$/, '');
  return sign + all.slice(0, -scale) + (fraction === '' ? '' : `.${fraction}`);
}

/** numerator / denominator as a decimal string of six digits, rounded down. Both non-negative, denominator not 0. */
export function sixDigits(numerator: bigint, denominator: bigint): string {
  const millionths = (numerator * 1_000_000n) / denominator;
  const text = millionths.toString().padStart(7, '0');
  return `${text.slice(0, -6)}.${text.slice(-6)}`;
}

/**
 * US dollars of an amount in base units, a decimal string of six digits rounded down.
 * @param price dollars for one whole token, not negative.
 */
export function usdValue(amount: bigint, decimals: number, price: Decimal): string {
  return sixDigits(amount * price.digits, 10n ** BigInt(decimals + price.scale));
}
