import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { createFolded, type Folded, type FoldedValue } from '../folded/folded.ts';
import type { Kind, Loaded } from '../kinds/kind.ts';
import { KINDS, type KindName } from '../kinds/kinds.ts';
import type { WithText } from './texts.ts';

/** Something that answers are made of. They keep its stamp, which differs once the source has changed or is gone. */
export interface Source {
  stamp: number;
  /** Unix milliseconds from which on it no longer holds. */
  until: number;
  /** When it was last used, by the monotonic clock of memory. */
  usedAt: number;
}

/** A value in memory. */
export interface Cell extends Source {
  value: unknown;
}

export type Keys = Map<KindName, Set<string>>;

/** How long a kind counts as in use after a reader asked for it. */
const IN_USE_MS = 60_000;
/** NaN equals no stamp that was kept, so nothing made of such a source holds. */
export const GONE = Number.NaN;
const OVERHEAD = 200;
/** Times `maxBytes` for `long` kinds: room for six weeks of hours of 350 quote assets. */
const LONG_TIMES = 2;
/** 100,000 policies take 80 MB. */
const MAX_FOLDED_BYTES = 192 * 1024 * 1024;
const NAMES = Object.keys(KINDS) as KindName[];

export interface Cells {
  get(kind: KindName, key: string): Cell | undefined;
  /** The same if it is unfolded already; it does not count as a use. */
  peek(kind: KindName, key: string): Cell | undefined;
  /** Whether changes of a key have to be passed on to here. */
  has(kind: KindName, key: string): boolean;
  set(kind: KindName, key: string, loaded: WithText, now: number): void;
  drop(kind: KindName, key: string): void;
  /** The keys that are unfolded. */
  keys(kind: KindName): Iterable<string>;
  clear(): void;
  /** All rows of a kind, folded; undefined for a kind that is not kept so. */
  folded(kind: KindName): Folded | undefined;
  /** Notes that a reader asked for this kind. */
  markInUse(kind: KindName, clock: number): void;
  /** Whether a reader asked for it within IN_USE_MS. */
  isInUse(kind: KindName, clock: number): boolean;
}

/**
 * @param maxBytes of each kind, measured as JSON text, twice as many for `long` kinds; the least recently used go.
 * @param maxFolded of all kinds together, as folded
 */
export function createCells(maxBytes: number, maxFolded = MAX_FOLDED_BYTES): Cells {
  let stamps = 0;
  const room = { most: maxFolded, used: 0 };
  const folded = new Map(
    NAMES.filter((kind) => orderedOf(kind) !== undefined).map((kind) => [kind, createFolded(room)]),
  );
  const askedAt = new Map<KindName, number>();
  const tables = Object.fromEntries(
    NAMES.map((kind) => [
      kind,
      new LRUCache<string, Cell>({
        maxSize: KINDS[kind].long ? maxBytes * LONG_TIMES : maxBytes,
        dispose: (cell) => {
          cell.stamp = GONE;
          // Whatever was made of this cell still refers to it, and must not keep its value.
          cell.value = null;
        },
      }),
    ]),
  ) as Record<KindName, LRUCache<string, Cell>>;
  const unfold = (kind: KindName, key: string): Cell | undefined => {
    const known = folded.get(kind)?.get(key);
    if (known === undefined) return undefined;
    const [loaded, chars] = unfolded(kind, known);
    if (loaded === null) return undefined;
    const { value, until } = loaded;
    stamps += 1;
    const cell: Cell = { value, stamp: stamps, until, usedAt: 0 };
    tables[kind].set(key, cell, { size: chars + key.length + OVERHEAD });
    return cell;
  };
  return {
    get: (kind, key) => tables[kind].get(key) ?? unfold(kind, key),
    peek: (kind, key) => tables[kind].peek(key),
    has: (kind, key) => tables[kind].has(key) || folded.get(kind)?.has(key) === true,
    folded: (kind) => folded.get(kind),
    set: (kind, key, { value, until, text, size }, now) => {
      const table = tables[kind];
      const known = table.peek(key);
      const all = folded.get(kind);
      if (all?.has(key)) all.update(key, text, until);
      if (known !== undefined && isDeepStrictEqual(known.value, value)) {
        // The newer of two equal values: what is attached to it, such as the tally behind sums, may be another.
        Object.assign(known, { value, until });
        return;
      }
      stamps += 1;
      const cell = known ?? { value, stamp: stamps, until, usedAt: now };
      Object.assign(cell, { value, stamp: stamps, until });
      table.set(key, cell, { size: size + key.length + OVERHEAD });
    },
    drop: (kind, key) => {
      tables[kind].delete(key);
      const all = folded.get(kind);
      if (all?.has(key)) all.update(key, null, 0);
    },
    keys: (kind) => tables[kind].keys(),
    clear: () => {
      for (const kind of NAMES) tables[kind].clear();
      for (const all of folded.values()) all.forget();
    },
    markInUse: (kind, clock) => void askedAt.set(kind, clock),
    isInUse: (kind, clock) => clock - (askedAt.get(kind) ?? Number.NEGATIVE_INFINITY) <= IN_USE_MS,
  };
}

const orderedOf = (kind: KindName) => (KINDS[kind] as Kind<unknown>).ordered;

/** The value that the folded rows or text give, null where they do not tell it, and the length of their text. */
function unfolded(kind: KindName, known: FoldedValue): [Loaded<unknown> | null, number] {
  const { none } = KINDS[kind];
  if ('text' in known) {
    const value = known.text === '' ? none : JSON.parse(known.text);
    return [{ value, until: known.until }, known.text.length];
  }
  const { rows, chars } = known;
  const ordered = orderedOf(kind);
  if (rows.length === 0 || ordered === undefined)
    return [{ value: none, until: Number.POSITIVE_INFINITY }, chars];
  return [ordered.valueOf(rows), chars];
}

export function addKey(keys: Keys, kind: KindName, key: string): void {
  const known = keys.get(kind);
  if (known === undefined) keys.set(kind, new Set([key]));
  else known.add(key);
}
