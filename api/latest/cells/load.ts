import type { ChangedTable, Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { inPieces } from '../../../clickhouse/key-pieces.ts';
import type { EventWindow } from '../../../clickhouse/queries/ranking/day-windows.ts';
import { type AlreadyRead, NOTHING_READ, type Shared } from '../kinds/already-read.ts';
import type { Hints, Kind, Loaded } from '../kinds/kind.ts';
import { KINDS, type KindName, type ValueOf } from '../kinds/kinds.ts';
import { isBusy } from './busy.ts';
import type { Cells, Keys } from './cells.ts';
import { type WithText, withText, withTexts } from './texts.ts';

/** The keys of a kind that were asked for, and the values found or the error that kept them from being read. */
interface LoadedKind {
  keys: ReadonlySet<string>;
  values: ReadonlyMap<string, WithText>;
  error?: unknown;
}

export type LoadedKeys = Map<KindName, LoadedKind>;

/** What has changed since memory was last brought up, and the slot before which hardly any of that was written. */
export interface Since {
  changes: Changes | null;
  slot: string | null;
}

/** What is being read: `all` of it, and in `read` the rows that other reads are made of. */
export interface Loading {
  all: Promise<LoadedKeys>;
  read: AlreadyRead;
}

/** One query for all the keys of a kind; a kind that fails does not fail the others. */
export function startLoads(store: Store, keys: Keys, now: number, cells: Cells, since?: Since): Loading {
  const loads = new Map<KindName, Promise<LoadedKind>>();
  const read = alreadyRead(keys, loads);
  const hints = hintsOf(loads, cells);
  for (const [kind, wanted] of keys) if (!isMade(kind)) loads.set(kind, load(kind, wanted, NOTHING_READ));
  // Kinds with `refresh` are made of rows of the others, which have to be under way.
  for (const [kind, wanted] of keys) if (isMade(kind)) loads.set(kind, load(kind, wanted, read));
  const all = Promise.all([...loads].map(async ([kind, one]) => [kind, await one] as const));
  return { read, all: all.then((loaded) => new Map(loaded)) };

  async function load(kind: KindName, wanted: ReadonlySet<string>, others: AlreadyRead): Promise<LoadedKind> {
    try {
      const refreshed = await refreshedOf(store, kind, cells, since, others);
      const values = refreshed ?? (await valuesOf(store, kind, [...wanted], now, hints, since));
      return { keys: wanted, values: await withTexts(values, (KINDS[kind] as Kind<unknown>).sizeOf) };
    } catch (error) {
      return { keys: wanted, values: new Map(), error };
    }
  }
}

export const loadKeys = (store: Store, keys: Keys, now: number, cells: Cells): Promise<LoadedKeys> =>
  startLoads(store, keys, now, cells).all;

/** What was found for a key, otherwise the `none` of its kind. Null may be found, and is not the same as nothing. */
export function foundFor(kind: KindName, key: string, values: ReadonlyMap<string, WithText>): WithText {
  return values.get(key) ?? withText({ value: KINDS[kind].none, until: Number.POSITIVE_INFINITY });
}

const isMade = (kind: KindName): boolean => (KINDS[kind] as Kind<unknown>).refresh !== undefined;

async function valuesOf(
  store: Store,
  name: KindName,
  keys: readonly string[],
  now: number,
  hints: Hints,
  since: Since | undefined,
): Promise<Map<string, Loaded<unknown>>> {
  const { load, loadWritten, leastWritten, touchedBy } = KINDS[name] as Kind<unknown>;
  const slot = since?.slot ?? null;
  const found = new Map<string, Loaded<unknown>>();
  const add = (values: ReadonlyMap<string, Loaded<unknown>>) => {
    for (const [key, value] of values) found.set(key, value);
  };
  if (loadWritten !== undefined && slot !== null) {
    const tables = Object.keys(touchedBy) as ChangedTable[];
    const changed = keys.filter((key) => tables.some((table) => since?.changes?.get(table)?.has(key)));
    if (changed.length >= leastWritten)
      for (const values of await inPieces(changed, (piece) => loadWritten(store, piece, slot))) add(values);
  }
  const rest = found.size === 0 ? keys : keys.filter((key) => !found.has(key));
  for (const values of await inPieces(rest, (piece) => load(store, piece, now, hints))) add(values);
  return found;
}

/** The value in memory, brought up by the changes alone; null where it has to be read whole. */
async function refreshedOf(
  store: Store,
  name: KindName,
  cells: Cells,
  since: Since | undefined,
  read: AlreadyRead,
): Promise<Map<string, Loaded<unknown>> | null> {
  const { refresh } = KINDS[name] as Kind<unknown>;
  const cell = cells.peek(name, '');
  if (refresh === undefined || cell === undefined || since?.changes == null) return null;
  return new Map([['', await refresh(store, cell.value, since.changes, read)]]);
}

/** @param keys of which kinds are read, and `loads` what is found of them */
function alreadyRead(keys: Keys, loads: ReadonlyMap<KindName, Promise<LoadedKind>>): AlreadyRead {
  const sharedOf =
    <Found>(kind: KindName, made: (key: string, loaded: WithText) => Found) =>
    (wanted: readonly string[]): Shared<Found> => {
      const among = keys.get(kind);
      const find = async () => {
        const loaded = await loads.get(kind);
        if (loaded?.error !== undefined) return null;
        return wanted.flatMap((key) => {
          const value = loaded?.values.get(key);
          return value === undefined ? [] : [made(key, value)];
        });
      };
      return { missing: wanted.filter((key) => !among?.has(key)), found: find() };
    };
  const rowsOf = <Row>(kind: KindName) => sharedOf(kind, (_, { value }) => value as Row);
  return {
    policies: rowsOf('policy'),
    accounts: rowsOf('tokenAccount'),
    totals: rowsOf('totals'),
    tokens: rowsOf('mint'),
    pools: rowsOf('pool'),
    windows: sharedOf('eventsOfDay', (mint, { value, until }) => [
      mint,
      { row: value as EventWindow, until: until / 1000 },
    ]),
  };
}

/** @param loads what is being read, by kind */
const hintsOf = (loads: ReadonlyMap<KindName, Promise<LoadedKind>>, cells: Cells): Hints => ({
  busyAmong: async (mints) => {
    const read = (await loads.get('totals'))?.values;
    const totalsOf = (mint: string) => (read?.get(mint) ?? cells.peek('totals', mint))?.value;
    return new Set(mints.filter((mint) => isBusy(totalsOf(mint) as ValueOf<'totals'>)));
  },
});
