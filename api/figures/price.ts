import type { QuoteRate } from '../../clickhouse/queries/ranking/ranking.ts';
import type { PriceRow } from '../../clickhouse/queries/states/prices.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { type Decimal, isoMillis, parseDecimal, usdValue } from '../../schemas/units.ts';
import { MAX_AHEAD_MS, oldest } from './times.ts';

/** Dollars for one whole token of a quote asset, or why there is no price. */
export type Price =
  | { usd: string; observedAt: string; source: PriceRow['source']; reason: null }
  | { usd: null; observedAt: null; source: null; reason: string };

/** "No mint stands there" covers a mint that was closed: no later reading will bring its decimals. */
export const NO_MINT = 'it is not read yet, or no mint stands there';

const MAX_AGE_MS = 15 * 60_000;
/** Digits of a price: a 128-bit amount times its rate, which has six digits more, stays inside the store's 256 bits. */
const MOST_DIGITS = 30;
/** In order of preference. */
const PRICE_SOURCES = ['catalogue', 'second'] as const;
const NAMES: Record<PriceRow['source'], { name: string; variable: string }> = {
  catalogue: { name: 'the launch catalogue', variable: 'LAUNCHPAD_CATALOGUE_URL' },
  second: { name: 'the second price source', variable: 'PRICE_URL' },
};

/** Unix milliseconds at which the next of these readings becomes too old, or its time is no longer too far ahead. */
export function freshUntil(rows: readonly PriceRow[], now: number): number {
  const times = rows.map(observedMs).filter((at) => at !== null);
  const moments = times.flatMap((at) => [at - MAX_AHEAD_MS, at + MAX_AGE_MS + 1]);
  return Math.min(...moments.filter((moment) => moment > now), Number.POSITIVE_INFINITY);
}

/**
 * The time of a price in unix milliseconds; null where it is unknown. The second source gives no times, so that of our
 * reading is taken. The catalogue does: a price of it without one would look new at every reading.
 */
function observedMs(row: PriceRow): number | null {
  const given = row.observed_at === null ? Number.NaN : Date.parse(row.observed_at);
  if (!Number.isNaN(given)) return given;
  return row.source === 'second' ? Number(row.read_at) : null;
}

/**
 * The catalogue's price where it has one that is fresh, else the second source's.
 * @param pricesFrom the sources that are configured
 */
export function priceOf(
  rows: readonly PriceRow[],
  now: number,
  pricesFrom: readonly PriceRow['source'][] = PRICE_SOURCES,
): Price {
  const reasons: string[] = [];
  for (const source of PRICE_SOURCES) {
    const { name, variable } = NAMES[source];
    const row = rows.find((candidate) => candidate.source === source);
    if (row === undefined || row.usd === null) {
      const why = row === undefined ? `${name}'s price was not read` : `${name} has no price`;
      reasons.push(pricesFrom.includes(source) ? why : `${variable} is not set`);
      continue;
    }
    const observed = observedMs(row);
    if (observed === null) {
      reasons.push(`${name} told no time of its price`);
      continue;
    }
    const observedAt = isoMillis(observed);
    if (now - observed > MAX_AGE_MS) reasons.push(`${name}'s price is older than 15 minutes (${observedAt})`);
    // Either of our own clocks may have been set back: the poller's, or this process's since the reading.
    else if (observed - Math.min(now, Number(row.read_at)) > MAX_AHEAD_MS)
      reasons.push(`${name}'s price has a time that is still to come (${observedAt})`);
    else if (!isUsable(row.usd)) reasons.push(`${name}'s price is out of range`);
    else return { usd: row.usd, observedAt, source, reason: null };
  }
  return { usd: null, observedAt: null, source: null, reason: reasons.join('; ') };
}

function isUsable(text: string): boolean {
  const price = countedPrice(text);
  return price !== null && price.digits >= 0n && price.digits < 10n ** BigInt(MOST_DIGITS);
}

/** A price as it counts for rates and for dollars alike: cut after its point where it has more than MOST_DIGITS. */
function countedPrice(text: string): Decimal | null {
  const price = parseDecimal(text);
  if (price === null) return null;
  const { digits, scale } = price;
  const over = Math.min(Math.max(digits.toString().length - MOST_DIGITS, 0), scale);
  return { digits: digits / 10n ** BigInt(over), scale: scale - over };
}

/** Millionths of a dollar for one base unit, as a fraction in lowest powers of ten; null without a price. */
export function rateOf(mint: string, decimals: number | null, price: Price): QuoteRate | null {
  const parsed = price.usd === null ? null : countedPrice(price.usd);
  if (parsed === null || decimals === null) return null;
  const places = decimals + parsed.scale - 6;
  // Beyond 70 places no amount of 128 bits reaches a millionth.
  if (places > 70) return { mint, multiplier: 0n, divisor: 1n };
  return places >= 0
    ? { mint, multiplier: parsed.digits, divisor: 10n ** BigInt(places) }
    : { mint, multiplier: parsed.digits * 10n ** BigInt(-places), divisor: 1n };
}

/** The dollar value of a figure in quote base units: absent for a reason of its own where a link is missing. */
export function inDollars(
  amount: Figure,
  what: string,
  quote: { decimals: number | null; price: Price },
): Figure {
  if (typeof amount.value !== 'string')
    return absent('computed', `${what} is absent, so it has no dollar value`);
  const price = quote.price.usd === null ? null : countedPrice(quote.price.usd);
  if (price === null) return absent('computed', `no USD price of the quote asset: ${quote.price.reason}`);
  if (quote.decimals === null)
    return absent('computed', `the decimals of the quote mint are not known: ${NO_MINT}`);
  const value = usdValue(BigInt(amount.value), quote.decimals, price);
  return figure(value, 'computed', oldest([amount.asOf, quote.price.observedAt]));
}
