import { KIND_COLUMNS, POLICY_COLUMNS, QUOTE_COLUMNS, type SummedColumn } from './summed-columns.ts';
import { addFact, type Fact, noSums, type Sums } from './sums.ts';

/** What the facts of an interval are summed by. */
type By = 'mint' | 'quote' | 'kind';

interface Grouping {
  columns: readonly SummedColumn[];
  /** The parts of its key; null where the fact counts nowhere. */
  keyOf(fact: Fact): string[] | null;
}

const GROUPINGS: Record<By, Grouping> = {
  mint: { columns: POLICY_COLUMNS, keyOf: ({ mint }) => (mint === '' ? null : [mint]) },
  quote: {
    columns: QUOTE_COLUMNS,
    keyOf: ({ block_time, quote_mint }) => (block_time === null ? null : [dayOf(block_time), quote_mint]),
  },
  kind: { columns: KIND_COLUMNS, keyOf: ({ kind, actor }) => (kind === '' ? null : [kind, actor]) },
};

const BYS = Object.keys(GROUPINGS) as By[];
const dayOf = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

/** No part of a key holds a space. */
export const keyOf = (...parts: readonly string[]): string => parts.join(' ');
export const partsOf = (key: string): string[] => key.split(' ');

/** Keys of sums, by grouping. */
export type Keys = Record<By, Set<string>>;
export const noKeys = (): Keys => ({ mint: new Set(), quote: new Set(), kind: new Set() });

export interface IntervalFacts {
  size(): number;
  /**
   * Adds facts; each takes the place of an earlier reading of the same fact, unless that one outranks it.
   * @returns the keys whose sums may be others now.
   */
  put(facts: readonly Fact[]): Keys;
  /** Zeros where no fact has the key. */
  sums(by: By, key: string): Sums;
}

/** The facts of one interval of slots and partition of the log by their identity, as the tables of events keep them. */
export function createIntervalFacts(): IntervalFacts {
  const known = new Map<string, Fact>();
  const sums: Record<By, Map<string, Sums>> = { mint: new Map(), quote: new Map(), kind: new Map() };

  const add = (fact: Fact, by: By, key: string) => {
    const of = sums[by].get(key) ?? noSums(GROUPINGS[by].columns);
    sums[by].set(key, of);
    addFact(GROUPINGS[by].columns, of, fact);
  };
  const sumAgain = (keys: Keys) => {
    if (BYS.every((by) => keys[by].size === 0)) return;
    for (const by of BYS) for (const key of keys[by]) sums[by].delete(key);
    for (const fact of known.values()) {
      for (const by of BYS) {
        const key = keyIn(by, fact);
        if (key !== null && keys[by].has(key)) add(fact, by, key);
      }
    }
  };
  return {
    size: () => known.size,
    put: (facts) => {
      const [touched, replaced] = [noKeys(), noKeys()];
      for (const fact of facts) {
        const id = `${fact.slot} ${fact.signature} ${fact.position}`;
        const before = known.get(id);
        if (before !== undefined && before.has_index > fact.has_index) continue;
        known.set(id, fact);
        for (const by of BYS) {
          const key = keyIn(by, fact);
          if (key !== null) touched[by].add(key);
          if (before === undefined) {
            if (key !== null && !replaced[by].has(key)) add(fact, by, key);
            continue;
          }
          for (const old of [key, keyIn(by, before)]) if (old !== null) replaced[by].add(old);
        }
      }
      sumAgain(replaced);
      for (const by of BYS) for (const key of replaced[by]) touched[by].add(key);
      return touched;
    },
    sums: (by, key) => sums[by].get(key) ?? noSums(GROUPINGS[by].columns),
  };
}

function keyIn(by: By, fact: Fact): string | null {
  const parts = GROUPINGS[by].keyOf(fact);
  return parts === null ? null : keyOf(...parts);
}
