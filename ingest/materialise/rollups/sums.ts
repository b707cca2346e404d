import type { Figure } from './figures.ts';

/** What sums of events are made of. */
export interface Fact {
  slot: string;
  signature: string;
  position: number;
  has_index: number;
  block_time: number | null;
  /** '' stands for an event that was taken back. */
  kind: string;
  actor: string;
  mint: string;
  quote_mint: string;
  amount_a: string;
  amount_b: string;
  amount_c: string;
  amount_d: string;
}

/** One value a figure, in their order; null where it is a time and there is none. */
export type Sums = (bigint | null)[];

export const noSums = (figures: readonly Figure[]): Sums => figures.map(({ is }) => (isTime(is) ? null : 0n));

const isTime = (is: Figure['is']): boolean => is === 'newest' || is === 'oldest';

export function addFact(figures: readonly Figure[], sums: Sums, fact: Fact): void {
  if (fact.kind === '') return;
  figures.forEach((figure, at) => {
    if (figure.kind !== null && figure.kind !== fact.kind) return;
    sums[at] = joined(figure, sums[at] as bigint | null, valueIn(figure, fact));
  });
}

function addSums(figures: readonly Figure[], sums: Sums, more: Sums): void {
  figures.forEach((figure, at) => {
    sums[at] = joined(figure, sums[at] as bigint | null, more[at] as bigint | null);
  });
}

/** Both together, as sums of their own. */
export function sumOf(figures: readonly Figure[], one: Sums, other: Sums): Sums {
  const sums = [...one];
  addSums(figures, sums, other);
  return sums;
}

/** As columns of a row, and back from one. */
export function columnsOf(figures: readonly Figure[], sums: Sums): Record<string, string | null> {
  return Object.fromEntries(figures.map(({ column }, at) => [column, sums[at]?.toString() ?? null]));
}

export function sumsFrom(figures: readonly Figure[], row: Record<string, unknown>): Sums {
  return figures.map(({ column }) => (row[column] === null ? null : BigInt(row[column] as string | number)));
}

function valueIn(figure: Figure, fact: Fact): bigint | null {
  if (figure.is === 'total') return BigInt(fact[figure.amount]);
  if (figure.is === 'count') return 1n;
  if (figure.is === 'dated') return fact.block_time === null ? 0n : 1n;
  return fact.block_time === null ? null : BigInt(fact.block_time);
}

function joined({ is }: Figure, one: bigint | null, other: bigint | null): bigint | null {
  if (!isTime(is)) return (one ?? 0n) + (other ?? 0n);
  if (one === null || other === null) return one ?? other;
  return (is === 'newest') === one > other ? one : other;
}
