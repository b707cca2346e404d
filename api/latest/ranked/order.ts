import type { RankedRow } from './row.ts';

/** A key to rank by; null is absent and comes last in both directions. */
export type KeyOf = (row: RankedRow) => bigint | null;

/** All rows in one order, equal keys by mint. */
export interface Order {
  /** These have another key, are new or are gone; they take their place when the order is next asked for. */
  touch(rows: Iterable<RankedRow>): void;
  rows(): readonly RankedRow[];
  /** Changes with every change of the order. */
  version(): number;
}

/** Over this part of them changed, all are sorted anew: what is nearly sorted costs little. */
const MANY = 8;

export function createOrder(all: Iterable<RankedRow>, keyOf: KeyOf, descending: boolean): Order {
  const key = new Map<RankedRow, bigint | null>();
  let sorted: RankedRow[] = [];
  let touched = new Set<RankedRow>();
  let version = 0;

  const before = (one: RankedRow, other: RankedRow): number => {
    const a = key.get(one) ?? null;
    const b = key.get(other) ?? null;
    if (a !== b) {
      if (a === null) return 1;
      if (b === null) return -1;
      return a < b === descending ? 1 : -1;
    }
    return one.mint < other.mint ? -1 : one.mint > other.mint ? 1 : 0;
  };
  const rekey = (row: RankedRow) => {
    if (row.gone) key.delete(row);
    else key.set(row, keyOf(row));
  };
  /** The first place whose row comes behind this one. */
  const placeOf = (list: readonly RankedRow[], row: RankedRow, from: number): number => {
    let low = from;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (before(list[middle] as RankedRow, row) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const settle = () => {
    const changed = touched;
    touched = new Set();
    version += 1;
    const stay = sorted.filter((row) => !changed.has(row));
    for (const row of changed) rekey(row);
    const back = [...changed].filter((row) => !row.gone).sort(before);
    if (back.length * MANY > stay.length) {
      sorted = [...stay, ...back].sort(before);
      return;
    }
    const merged: RankedRow[] = [];
    let at = 0;
    for (const row of back) {
      const place = placeOf(stay, row, at);
      while (at < place) merged.push(stay[at++] as RankedRow);
      merged.push(row);
    }
    while (at < stay.length) merged.push(stay[at++] as RankedRow);
    sorted = merged;
  };
  touched = new Set(all);
  return {
    touch: (rows) => {
      for (const row of rows) touched.add(row);
    },
    rows: () => {
      if (touched.size > 0) settle();
      return sorted;
    },
    version: () => version,
  };
}
