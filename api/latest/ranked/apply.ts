import type { RankedPolicy, RankedPool } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { OWN_SORTS, SORTS, type Sort, SUM_SORTS } from '../../../schemas/responses/rankings.ts';
import { GONE } from '../cells/cells.ts';
import type { Part, RankedLoad, RowIndex } from './load.ts';
import {
  attributesOf,
  type RankedRow,
  rankedRow,
  setAccount,
  setPolicy,
  setPool,
  setSums,
  setToken,
  setWindow,
} from './row.ts';

/** Rows whose key may have changed, by sort, and rows of which a filter may see something else. */
export type Touched = Record<Sort | 'attributes', Set<RankedRow>>;

/** All rows, by each of the keys that changes are known by. */
export interface Rows extends RowIndex {
  byAddress: Map<string, RankedRow>;
  byMint: Map<string, RankedRow>;
  byBankroll: Map<string, RankedRow>;
  byPool: Map<string, RankedRow>;
  /** Texts that many rows have in common, each kept once. */
  texts: Map<string, string>;
  /** How many rows were ever added, those that are gone included. */
  added: number;
}

export function noRows(): Rows {
  return {
    byAddress: new Map(),
    byMint: new Map(),
    byBankroll: new Map(),
    byPool: new Map(),
    texts: new Map(),
    added: 0,
  };
}

export const touchedNothing = () =>
  Object.fromEntries([...SORTS, 'attributes'].map((name) => [name, new Set()])) as Touched;

export interface Applied {
  touched: Touched;
  /** Whether policies came or went. */
  members: boolean;
}

/** Puts what was read into the rows, without waiting. @param now unix milliseconds at which the windows were read */
export function applyLoad(rows: Rows, load: RankedLoad, now: number): Applied {
  const touched = touchedNothing();
  const members = applyPolicies(rows, load.policies, touched);
  const { byMint, byBankroll } = rows;
  applyPools(rows, load.pools, touched);
  put(load.accounts, byBankroll, ({ address }) => address, touched, ['bankroll'], setAccount);
  put(load.sums, byMint, ({ mint }) => mint, touched, SUM_SORTS, setSums);
  put(load.tokens, byMint, ({ address }) => address, touched, [], setToken, changeFiltered);
  put(
    load.events,
    byMint,
    ([mint]) => mint,
    touched,
    ['activity'],
    (row, found) => setWindow(row, found?.[1], now),
  );
  return { touched, members };
}

/**
 * Changes what filters do not look at. @param set makes the change, and returns whether anything is another than before
 */
function change(row: RankedRow, touched: Touched, sorts: readonly Sort[], set: () => boolean): boolean {
  if (!set()) return false;
  row.stamp += 1;
  for (const sort of sorts) touched[sort].add(row);
  return true;
}

/** Changes what filters may look at. */
function changeFiltered(row: RankedRow, touched: Touched, sorts: readonly Sort[], set: () => boolean): void {
  const before = attributesOf(row);
  if (change(row, touched, sorts, set) && attributesOf(row) !== before) touched.attributes.add(row);
}

/** @param set puts into a row what was found for it; undefined where nothing was */
function put<Found>(
  { keys, found }: Part<Found>,
  rows: ReadonlyMap<string, RankedRow>,
  keyOf: (one: Found) => string,
  touched: Touched,
  sorts: readonly Sort[],
  set: (row: RankedRow, one: Found | undefined) => boolean,
  changed: typeof changeFiltered | typeof change = change,
): void {
  const changeAt = (key: string, one: Found | undefined) => {
    const row = rows.get(key);
    if (row !== undefined) changed(row, touched, sorts, () => set(row, one));
  };
  if (keys === null || keys.length > 0) {
    const there = new Set(found.map(keyOf));
    for (const key of keys ?? rows.keys()) if (!there.has(key)) changeAt(key, undefined);
  }
  for (const one of found) changeAt(keyOf(one), one);
}

/** The row of the policy that a pool belongs to: a pool of another quote asset is none of the policy's. */
function rowOfPool({ byMint }: Rows, pool: RankedPool): RankedRow | undefined {
  const row = byMint.get(pool.base_mint);
  return row?.quote === pool.quote_mint ? row : undefined;
}

/** Adds a policy that has no row yet. */
export function addPolicy(rows: Rows, policy: RankedPolicy): RankedRow {
  const row = rankedRow(policy, rows.added, rows.texts);
  rows.added += 1;
  rows.byAddress.set(row.address, row);
  rows.byMint.set(row.mint, row);
  rows.byBankroll.set(row.bankroll, row);
  return row;
}

function applyPools(rows: Rows, { keys, found }: Part<RankedPool>, touched: Touched): void {
  const { byPool } = rows;
  const there = new Set(found.map(({ address }) => address));
  for (const key of keys ?? [...byPool.keys()]) {
    const row = byPool.get(key);
    if (row === undefined || there.has(key)) continue;
    byPool.delete(key);
    change(row, touched, ['marketCap'], () => setPool(row, undefined));
  }
  for (const pool of found) {
    const row = rowOfPool(rows, pool);
    if (row === undefined) continue;
    byPool.set(pool.address, row);
    change(row, touched, ['marketCap'], () => setPool(row, pool));
  }
}

function applyPolicies(rows: Rows, { keys, found }: RankedLoad['policies'], touched: Touched): boolean {
  let members = false;
  const there = new Set(found.map(({ address }) => address));
  const everywhere = (row: RankedRow) => {
    for (const set of Object.values(touched)) set.add(row);
  };
  for (const key of keys ?? [...rows.byAddress.keys()]) {
    const row = rows.byAddress.get(key);
    if (row === undefined || there.has(key)) continue;
    row.gone = true;
    row.stamp = GONE;
    members = true;
    rows.byAddress.delete(key);
    rows.byMint.delete(row.mint);
    rows.byBankroll.delete(row.bankroll);
    if (row.pool !== null) rows.byPool.delete(row.pool);
    everywhere(row);
  }
  for (const policy of found) {
    const known = rows.byAddress.get(policy.address);
    if (known !== undefined) {
      changeFiltered(known, touched, OWN_SORTS, () => setPolicy(known, policy, rows.texts));
      continue;
    }
    members = true;
    everywhere(addPolicy(rows, policy));
  }
  return members;
}
