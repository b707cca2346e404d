import type { AssetClass } from '../../../../schemas/program/asset-classes.ts';
import { stamp } from './times.ts';
import { plainText, shortened } from './visible.ts';

/** Words for what the API says in codes. */

/** In the order of their bits. */
const CLASS_NAMES: Readonly<Record<AssetClass, string>> = {
  STABLE: 'Stable',
  MAJOR: 'Major',
  SOL_MEME: 'Meme',
  STOCK: 'Stock',
  PERP: 'Perp',
  OPTION: 'Option',
  LP: 'LP',
};
const BITS = 8;
const CLASSES = Array.from(
  { length: BITS },
  (_, bit) => Object.values(CLASS_NAMES)[bit] ?? `Class ${1 << bit}`,
);

/** Asset classes of a mask or of a single class. */
export function classNames(mask: number): string[] {
  return CLASSES.filter((_, bit) => (mask & (1 << bit)) !== 0);
}

/** Whether a mask has options but no perps: the leverage setting then chooses among the options (moneyness). */
export function hasOptionsAlone(mask: number): boolean {
  const names = classNames(mask);
  return names.includes(CLASS_NAMES.OPTION) && !names.includes(CLASS_NAMES.PERP);
}

/** `4F3k…9aQz`; made visible, as a key that the address names may be any text. */
export function shortKey(key: string): string {
  return plainText(key.length <= 12 ? key : `${key.slice(0, 4)}…${key.slice(-4)}`);
}

/** A longer symbol is cut: anybody may choose a whole sentence, which after an amount would cover what is beside it. */
const MOST_OF_SYMBOL = 10;

/** The symbol written after an amount; for an asset without one, the beginning of its mint. */
export function symbolOf(symbol: string | null, mint: string): string {
  if (symbol === null) return `${plainText(mint.slice(0, 4))}…`;
  const letters = [...plainText(shortened(symbol))];
  return letters.length <= MOST_OF_SYMBOL
    ? letters.join('')
    : `${letters.slice(0, MOST_OF_SYMBOL - 1).join('')}…`;
}

/**
 * The quote assets whose symbol as shown, or start of the mint in its place, is another one's too, ignoring case:
 * anybody may choose any symbol.
 */
export function namedAlike(
  quotes: readonly { quoteMint: string; quoteSymbol: string | null }[],
): ReadonlySet<string> {
  const bySymbol = new Map<string, Set<string>>();
  for (const { quoteMint, quoteSymbol } of quotes) {
    const name = symbolOf(quoteSymbol, quoteMint).toLowerCase();
    bySymbol.set(name, (bySymbol.get(name) ?? new Set()).add(quoteMint));
  }
  return new Set([...bySymbol.values()].filter(({ size }) => size > 1).flatMap((mints) => [...mints]));
}

/** With a capital first letter, to begin a sentence. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const KEYS = /\b[1-9A-HJ-NP-Za-km-z]{32,44}\b/g;
const TIMES = /\b\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** A reason as the API gives it, with its keys shortened and its times as the pages write them. */
export const readable = (reason: string): string =>
  reason.replace(KEYS, shortKey).replace(TIMES, (iso) => `${stamp(iso)} UTC`);

/** Basis points as per cent, exactly. */
export function percent(bps: number): string {
  const whole = Math.trunc(bps / 100);
  const rest = bps % 100;
  return rest === 0 ? `${whole}%` : `${whole}.${String(rest).padStart(2, '0').replace(/0$/, '')}%`;
}

/** `feesClaimed` → `fees claimed`, `FeesClaimed` → `Fees claimed` */
export function spaced(name: string): string {
  const text = name
    .replaceAll('_', ' ')
    .replaceAll(
      /([a-z\d])([A-Z])/g,
      (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
    );
  return text;
}

/** @param count null where it is not known how many there are */
export const counted = (count: number | null, one: string, many = `${one}s`) =>
  count === null
    ? `${many}, not all of them known`
    : `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
