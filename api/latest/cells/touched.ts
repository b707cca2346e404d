import { ANY, type ChangedTable, type Changes } from '../../../clickhouse/changes.ts';
import { KINDS, type KindName, type ValueOf } from '../kinds/kinds.ts';
import { isBusy } from './busy.ts';
import { addKey, type Cells, type Keys } from './cells.ts';

const NAMES = Object.keys(KINDS) as KindName[];
const SLOW = NAMES.filter((kind) => KINDS[kind].slow);
const OTHERS = NAMES.filter((kind) => !KINDS[kind].slow);

/** A changed value that was not used for this long is dropped, not read again. */
const WARM_MS = 10_000;
/** Up to this many changed keys of a steady kind are read again even if unused: a few queries read them all. */
const MOST_STEADY = 5_000;
/** A slow value used within this time is read again when it has changed, unasked: so many of a kind per turn. */
const AGAIN_MS = 1_000;
const MOST_AGAIN = 8;

/** What to load: the wanted keys, and of the changed ones those used recently or cheap; the others are dropped. */
export function planOf(
  wanted: Keys,
  changes: Changes | null,
  cells: Cells,
  clock: number,
): { load: Keys; drop: Keys } {
  const load: Keys = new Map([...wanted].map(([kind, keys]) => [kind, new Set(keys)]));
  const drop: Keys = new Map();
  for (const [kind, keys] of changes === null ? [] : touchedBy(changes, cells, OTHERS)) {
    const { steady, heavy } = KINDS[kind];
    const all = steady && keys.size <= MOST_STEADY && cells.isInUse(kind, clock);
    const isCheap = (key: string) => !heavy || !isBusy(cells.peek('totals', key)?.value as ValueOf<'totals'>);
    for (const key of keys) {
      const used = cells.peek(kind, key)?.usedAt ?? 0;
      addKey(clock - used <= WARM_MS || (all && isCheap(key)) ? load : drop, kind, key);
    }
  }
  return { load, drop };
}

/**
 * Forgets a kind of which anything may have changed, folded or not: a reader may have unfolded a value after it was
 * planned what to read again. @param loaded what was read again
 */
export function forgetTouched(
  changes: Changes,
  cells: Cells,
  loaded: ReadonlyMap<KindName, { keys: ReadonlySet<string> }>,
): void {
  for (const kind of NAMES)
    for (const [table, how] of Object.entries(KINDS[kind].touchedBy)) {
      const keys = changes.get(table as ChangedTable);
      if (keys === undefined || (how !== 'any' && !keys.has(ANY))) continue;
      cells.folded(kind)?.forget();
      for (const key of [...cells.keys(kind)])
        if (loaded.get(kind)?.keys.has(key) !== true) cells.drop(kind, key);
    }
}

/**
 * Drops slow values that changed, as the cells are now, not as they were when the turn began: meanwhile a reader may
 * have put in what it asked for before the change.
 * @returns those that are read again and again
 */
export function dropSlow(changes: Changes, cells: Cells, clock: number): Keys {
  const again: Keys = new Map();
  for (const [kind, keys] of touchedBy(changes, cells, SLOW)) {
    for (const key of keys) {
      const isRead = clock - (cells.peek(kind, key)?.usedAt ?? Number.NEGATIVE_INFINITY) <= AGAIN_MS;
      const room = (again.get(kind)?.size ?? 0) < MOST_AGAIN;
      if (isRead && room && KINDS[kind].isRefreshedUnasked(key)) addKey(again, kind, key);
      cells.drop(kind, key);
    }
  }
  return again;
}

/** The keys in memory of these kinds that the changes have made old. */
function touchedBy(changes: Changes, cells: Cells, kinds: readonly KindName[]): Keys {
  const touched: Keys = new Map();
  for (const kind of kinds)
    for (const [table, how] of Object.entries(KINDS[kind].touchedBy)) {
      const keys = changes.get(table as ChangedTable);
      if (keys !== undefined) addTouched(touched, kind, how === 'any' || keys.has(ANY) ? null : keys, cells);
    }
  return touched;
}

/** @param keys null: all that are there. */
function addTouched(touched: Keys, kind: KindName, keys: ReadonlySet<string> | null, cells: Cells): void {
  const { slow, subject } = KINDS[kind];
  if (keys === null || slow) {
    for (const key of cells.keys(kind)) if (keys?.has(subject(key)) !== false) addKey(touched, kind, key);
    return;
  }
  for (const key of keys) if (cells.has(kind, key)) addKey(touched, kind, key);
}

/** Whether any of the changes makes values of this kind old, whatever their keys. */
export function touches(changes: Changes | null, kind: KindName): boolean {
  return (
    changes === null || Object.keys(KINDS[kind].touchedBy).some((table) => changes.has(table as ChangedTable))
  );
}
