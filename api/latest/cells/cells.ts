import { LRUCache } from 'lru-cache';
import { KINDS, type KindName } from '../kinds/kinds.ts';

/** What something can be made of. Who did keeps the stamp: it is another where this has changed or is gone. */
export interface Source {
  stamp: number;
  /** Unix milliseconds from which on it is another. */
  until: number;
  /** The last time that somebody wanted it, on the clock of memory. */
  usedAt: number;
}

/** A value in memory. */
export interface Cell extends Source {
  value: unknown;
}

export type Keys = Map<KindName, Set<string>>;

/** Since somebody asked for a kind. */
const IN_USE_MS = 60_000;
/** No stamp that somebody keeps is this one. */
export const GONE = Number.NaN;
const OVERHEAD = 200;
const NAMES = Object.keys(KINDS) as KindName[];

export interface Cells {
  get(kind: KindName, key: string): Cell | undefined;
  /** The same, and it counts as no use. */
  peek(kind: KindName, key: string): Cell | undefined;
  set(kind: KindName, key: string, value: unknown, until: number, now: number): void;
  drop(kind: KindName, key: string): void;
  keys(kind: KindName): Iterable<string>;
  clear(): void;
  /** Whether more of a kind would soon take the place of others. */
  isFilling(kind: KindName): boolean;
  /** Somebody asks for one of this kind. */
  asked(kind: KindName, clock: number): void;
  /** Whether somebody did of late. */
  isInUse(kind: KindName, clock: number): boolean;
}

/** @param maxBytes of each kind, measured as text; the least recently used go. */
export function createCells(maxBytes: number): Cells {
  let stamps = 0;
  const askedAt = new Map<KindName, number>();
  const tables = Object.fromEntries(
    NAMES.map((kind) => [
      kind,
      new LRUCache<string, Cell>({
        maxSize: maxBytes,
        dispose: (cell) => {
          cell.stamp = GONE;
        },
      }),
    ]),
  ) as Record<KindName, LRUCache<string, Cell>>;
  return {
    get: (kind, key) => tables[kind].get(key),
    peek: (kind, key) => tables[kind].peek(key),
    set: (kind, key, value, until, now) => {
      const table = tables[kind];
      const text = JSON.stringify(value) ?? '';
      const known = table.peek(key);
      if (known !== undefined && (JSON.stringify(known.value) ?? '') === text) {
        // The newer of two that say the same: what it was made of may be another.
        Object.assign(known, { value, until });
        return;
      }
      stamps += 1;
      const size = text.length + key.length + OVERHEAD;
      const cell = known ?? { value, stamp: stamps, until, usedAt: now };
      Object.assign(cell, { value, stamp: stamps, until });
      table.set(key, cell, { size });
    },
    drop: (kind, key) => void tables[kind].delete(key),
    keys: (kind) => tables[kind].keys(),
    clear: () => {
      for (const kind of NAMES) tables[kind].clear();
    },
    asked: (kind, clock) => void askedAt.set(kind, clock),
    isInUse: (kind, clock) => clock - (askedAt.get(kind) ?? Number.NEGATIVE_INFINITY) <= IN_USE_MS,
    isFilling: (kind) => tables[kind].calculatedSize * 2 > maxBytes,
  };
}

export function addKey(keys: Keys, kind: KindName, key: string): void {
  const known = keys.get(kind);
  if (known === undefined) keys.set(kind, new Set([key]));
  else known.add(key);
}
