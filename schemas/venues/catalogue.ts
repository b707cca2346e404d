import { unixMillisOf } from '../iso-time.ts';
import { MalformedError } from '../malformed.ts';
import type { CatalogueRow } from '../readings.ts';
import { decodeKey } from '../solana/base58.ts';
import { isUnixMillis } from '../units.ts';
import { jsonOf, objectOf, textOf } from './decimal.ts';

const CATEGORIES = [
  'custom',
  'backpack',
  'xstock',
  'prestock',
  'currency',
  'solana',
  'collectible',
  'tessera',
  'leverage',
] as const;

/** Two hundred times what a launch venue lists: to read so many keeps a thread for a second or two. */
const MOST_PAIRS = 100_000;

export interface Pairs {
  rows: CatalogueRow[];
  /** Malformed rows, as they came, with the reason. */
  bad: { row: unknown; reason: string }[];
}

/** The pairs of a catalogue page, not yet read. @throws MalformedError where there is no list, or over MOST_PAIRS */
export function listedPairs(reply: unknown): unknown[] {
  const { pairs } = objectOf(objectOf(reply, 'pairs').data, 'pairs.data');
  if (!Array.isArray(pairs)) throw new MalformedError('pairs.data.pairs', 'no list');
  if (pairs.length > MOST_PAIRS) throw new MalformedError('pairs.data.pairs', `over ${MOST_PAIRS} rows`);
  return pairs;
}

/** Reads pairs one by one; the rows are one for each mint. */
export function createPairsReader(base: string): { take(pair: unknown): void; pairs(): Pairs } {
  const rows = new Map<string, CatalogueRow>();
  const bad: Pairs['bad'] = [];
  const disputed = new Set<string>();
  return {
    take: (pair) => {
      try {
        const row = readPair(pair, base);
        const { decimals = row.decimals } = rows.get(row.mint) ?? {};
        if (decimals !== row.decimals) disputed.add(row.mint);
        rows.set(row.mint, row);
      } catch (error) {
        if (!(error instanceof MalformedError)) throw error;
        bad.push({ row: pair, reason: error.message });
      }
    },
    pairs: () => {
      const differs = [...disputed].map((mint) => ({
        row: rows.get(mint),
        reason: 'pair.decimals: not the same in all rows of the mint',
      }));
      const kept = [...rows.values()].filter(({ mint }) => !disputed.has(mint));
      return { rows: kept, bad: [...bad, ...differs] };
    },
  };
}

function readPair(value: unknown, base: string): CatalogueRow {
  const row = objectOf(value, 'pair');
  const mint = textOf(row.mint, 'pair.mint');
  if (decodeKey(mint) === null) throw new MalformedError('pair.mint', 'no public key');
  const { decimals } = row;
  if (!Number.isInteger(decimals) || (decimals as number) < 0 || (decimals as number) > 255) {
    throw new MalformedError('pair.decimals', 'no number of decimals');
  }
  const category = CATEGORIES.find((known) => known === row.category);
  if (category === undefined) throw new MalformedError('pair.category', 'unknown');
  return {
    mint,
    symbol: textOrNone(row.symbol, 'pair.symbol'),
    name: textOrNone(row.name, 'pair.name'),
    decimals: decimals as number,
    category,
    launchable: row.launchable === true,
    launchpadReady: row.launchLabReady === true,
    logoUrl: absoluteUrl(row.logoUrl, base),
  };
}

/** A pair that has no symbol or name yet is a pair all the same. */
function textOrNone(value: unknown, what: string): string {
  return value === null || value === undefined ? '' : textOf(value, what);
}

/**
 * Resolved against the origin alone, and without a login: the configured address may hold a login or a key, which no
 * reader is to see.
 */
function absoluteUrl(value: unknown, base: string): string | null {
  const { origin } = new URL(base);
  if (typeof value !== 'string' || value === '' || value.length > 2_000 || !URL.canParse(value, origin))
    return null;
  const url = new URL(value, origin);
  url.username = '';
  url.password = '';
  return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
}

export interface Pricing {
  /** Shortest text of the number the source gave. */
  usd: string | null;
  observedAt: string | null;
  startMarketCapUsd: number | null;
  graduationMarketCapUsd: number | null;
  graduationMultiple: number | null;
}

/**
 * Whether a reply is a final error in the catalogue's own form, whose codes are words. A proxy in front of it answers
 * in other forms, or without JSON, and an error that may be retried decides nothing.
 */
export function isOwnError(bytes: Uint8Array): boolean {
  try {
    const error = objectOf(objectOf(jsonOf(bytes, 'reply'), 'reply').error, 'reply.error');
    return typeof error.code === 'string' && !/^\d+$/.test(error.code) && error.retryable !== true;
  } catch (error) {
    if (!(error instanceof MalformedError)) throw error;
    return false;
  }
}

/**
 * Reads the pricing of one mint. A price that is not above zero is none; a cap of zero is one.
 * @throws MalformedError, also where the reply names another mint: a proxy in front of a catalogue may mix up answers
 */
export function readPricing(reply: unknown, mint: string): Pricing {
  const data = objectOf(objectOf(reply, 'pricing').data, 'pricing.data');
  const { mint: told } = (data.quote ?? {}) as { mint?: unknown };
  if (typeof told === 'string' && told !== mint)
    throw new MalformedError('pricing.data.quote.mint', 'another mint');
  const prices = data.prices == null ? {} : objectOf(data.prices, 'pricing.data.prices');
  const cap = data.marketCap == null ? {} : objectOf(data.marketCap, 'pricing.data.marketCap');
  const known = (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
  const usd = known(prices.quoteUsd);
  return {
    usd: usd === null || usd === 0 ? null : String(usd),
    observedAt: observedTime(prices.observedAt),
    startMarketCapUsd: known(cap.startUsd),
    graduationMarketCapUsd: known(cap.graduationUsd),
    graduationMultiple: known(cap.graduationMultiple),
  };
}

/**
 * When a price was observed, null where the source does not say: such a price is not served. A time that cannot be read
 * is not replaced by ours: the price would look new at every reading, however old it is.
 * @throws MalformedError where it cannot be read
 */
function observedTime(given: unknown): string | null {
  if (given === null || given === undefined) return null;
  const at = typeof given === 'string' ? unixMillisOf(given) : given;
  if (!isUnixMillis(at)) throw new MalformedError('pricing.data.prices.observedAt', 'no time');
  return new Date(at).toISOString();
}
