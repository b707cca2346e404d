import type { SummedColumn } from './summed-columns.ts';

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

/** One value a column, in their order; null where it is a time and there is none. */
export type Sums = (bigint | null)[];

export const noSums = (columns: readonly SummedColumn[]): Sums =>
  columns.map(({ is }) => (isTime(is) ? null : 0n));

const isTime = (is: SummedColumn['is']): boolean => is === 'newest' || is === 'oldest';

export function addFact(columns: readonly SummedColumn[], sums: Sums, fact: Fact): void {
  if (fact.kind === '') return;
  columns.forEach((summed, at) => {
    if (summed.kind !== null && summed.kind !== fact.kind) return;
    sums[at] = joined(summed, sums[at] as bigint | null, valueIn(summed, fact));
  });
}

function addSums(columns: readonly SummedColumn[], sums: Sums, more: Sums): void {
  columns.forEach((summed, at) => {
    sums[at] = joined(summed, sums[at] as bigint | null, more[at] as bigint | null);
  });
}

/** Both together, as sums of their own. */
export function sumOf(columns: readonly SummedColumn[], one: Sums, other: Sums): Sums {
  const sums = [...one];
  addSums(columns, sums, other);
  return sums;
}

/** As columns of a row, and back from one. */
export function columnsOf(columns: readonly SummedColumn[], sums: Sums): Record<string, string | null> {
  return Object.fromEntries(columns.map(({ column }, at) => [column, sums[at]?.toString() ?? null]));
}

export function sumsFrom(columns: readonly SummedColumn[], row: Record<string, unknown>): Sums {
  return columns.map(({ column }) => (row[column] === null ? null : BigInt(row[column] as string | number)));
}

function valueIn(summed: SummedColumn, fact: Fact): bigint | null {
  if (summed.is === 'total') return BigInt(fact[summed.amount]);
  if (summed.is === 'count') return 1n;
  if (summed.is === 'dated') return fact.block_time === null ? 0n : 1n;
  return fact.block_time === null ? null : BigInt(fact.block_time);
}

function joined({ is }: SummedColumn, one: bigint | null, other: bigint | null): bigint | null {
  if (!isTime(is)) return (one ?? 0n) + (other ?? 0n);
  if (one === null || other === null) return one ?? other;
  return (is === 'newest') === one > other ? one : other;
}
