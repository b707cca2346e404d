import { MalformedError } from '../malformed.ts';
import { parseDecimal, shortestDecimal } from '../units.ts';

/** No amount and no price has more digits on either side of its point, once an exponent is written out. */
const MOST_DIGITS = 60;

/**
 * A decimal string of a reply, kept as written; an exponent is written out unless more than MOST_DIGITS decimals
 * result.
 * @throws MalformedError where it is none, or out of range.
 */
export function decimalText(value: unknown, what: string): string {
  const decimal = typeof value === 'string' && value.length <= 80 ? parseDecimal(value) : null;
  if (decimal === null) throw new MalformedError(what, 'no decimal string');
  const { digits, scale } = decimal;
  const size = digits < 0n ? -digits : digits;
  if (scale > 2 * MOST_DIGITS || size >= 10n ** BigInt(MOST_DIGITS + scale))
    throw new MalformedError(what, 'out of range');
  const text = value as string;
  return /e/i.test(text) && scale <= MOST_DIGITS ? shortestDecimal(text) : text;
}

/** A decimal string that is never below zero: a price, a size. @throws MalformedError */
export function amountText(value: unknown, what: string): string {
  const text = decimalText(value, what);
  if ((parseDecimal(text)?.digits ?? 0n) < 0n) throw new MalformedError(what, 'below zero');
  return text;
}

/** floor(value × 10^scale) in exact decimals. */
export function scaledFloor(text: string, scale: number): bigint {
  const { digits, scale: own } = parseDecimal(text) as { digits: bigint; scale: number };
  if (own <= scale) return digits * 10n ** BigInt(scale - own);
  const divisor = 10n ** BigInt(own - scale);
  const quotient = digits / divisor;
  return digits < 0n && quotient * divisor !== digits ? quotient - 1n : quotient;
}

/** An object of a reply. @throws MalformedError */
export function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedError(what, 'no object');
  return value as Record<string, unknown>;
}

/** A text of a reply, bounded, that a store can hold. @throws MalformedError */
export function textOf(value: unknown, what: string, most = 500): string {
  if (typeof value !== 'string' || value.length > most)
    throw new MalformedError(what, `no text of up to ${most}`);
  if (!value.isWellFormed()) throw new MalformedError(what, 'half a surrogate pair');
  return value;
}

export const NOT_JSON = 'not JSON';

/** JSON of a reply's bytes. @throws MalformedError */
export function jsonOf(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new MalformedError(what, NOT_JSON);
  }
}
