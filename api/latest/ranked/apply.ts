import type { RankedPool } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { OWN_SORTS, SORTS, type Sort } from '../../../schemas/responses/rankings.ts';
import { GONE } from '../cells.ts';
import type { Part, RankedLoad, RowIndex } from './load.ts';
import {
  type RankedRow,
  rankedRow,
  setAccount,
  setFees,
  setPolicy,
  setPool,
  setToken,
  setWindow,
} from './row.ts';

/** Rows by the sort whose key may be another, and those of which a filter may say something else. */
export type Touched = Record<Sort | 'attributes', Set<RankedRow>>;

/** The rows, found by whatever a change is told by. */
export interface Rows extends RowIndex {
  byAddress: Map<string, RankedRow>;
  byMint: Map<string, RankedRow>;
  byBankroll: Map<string, RankedRow>;
  byPool: Map<string, RankedRow>;
  /** Each once: what many of them have in common. */
  texts: Map<string, string>;
}

export function noRows(): Rows {
  return {
    byAddress: new Map(),
    byMint: new Map(),
    byBankroll: new Map(),
    byPool: new Map(),
    texts: new Map(),
  };
}

export const touchedNothing = () =>
  Object.fromEntries([...SORTS, 'attributes'].map((name) => [name, new Set()])) as Touched;

export interface Applied {
  touched: Touched;
  /** Whether there are other policies than before. */
  members: boolean;
}

/** Puts what was read in its place, without waiting. @param now unix milliseconds at which the windows were read */
export function applyLoad(rows: Rows, load: RankedLoad, now: number): Applied {
  const touched = touchedNothing();
  const members = applyPolicies(rows, load.policies, touched);
  const { byMint, byBankroll } = rows;
  applyPools(rows, load.pools, touched.marketCap);
  put(load.accounts, byBankroll, ({ address }) => address, touched.bankroll, setAccount);
  put(load.fees, byMint, ({ mint }) => mint, touched.fees, setFees);
  put(load.tokens, byMint, ({ address }) => address, touched.attributes, setToken);
  put(
    load.events,
    byMint,
    ([mint]) => mint,
    touched.activity,
    (row, found) => setWindow(row, found?.[1], now),
  );
  return { touched, members };
}

/** @param set what a row has of it; undefined where nothing was found */
function put<Found>(
  { keys, found }: Part<Found>,
  rows: ReadonlyMap<string, RankedRow>,
  keyOf: (one: Found) => string,
  touched: Set<RankedRow>,
  set: (row: RankedRow, one: Found | undefined) => void,
): void {
  const there = new Map(found.map((one) => [keyOf(one), one]));
  const change = (key: string, one: Found | undefined) => {
    const row = rows.get(key);
    if (row === undefined) return;
    set(row, one);
    row.stamp += 1;
    touched.add(row);
  };
  for (const key of keys ?? rows.keys()) if (!there.has(key)) change(key, undefined);
  for (const [key, one] of there) change(key, one);
}

function applyPools(rows: Rows, { keys, found }: Part<RankedPool>, touched: Set<RankedRow>): void {
  const { byMint, byPool } = rows;
  const there = new Set(found.map(({ address }) => address));
  const change = (row: RankedRow, pool: RankedPool | undefined) => {
    setPool(row, pool);
    row.stamp += 1;
    touched.add(row);
  };
  for (const key of keys ?? [...byPool.keys()]) {
    const row = byPool.get(key);
    if (row === undefined || there.has(key)) continue;
    byPool.delete(key);
    change(row, undefined);
  }
  for (const pool of found) {
    const row = byMint.get(pool.base_mint);
    if (row === undefined || row.quote !== pool.quote_mint) continue;
    byPool.set(pool.address, row);
    change(row, pool);
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
      setPolicy(known, policy, rows.texts);
      known.stamp += 1;
      for (const of of [...OWN_SORTS, 'attributes'] as const) touched[of].add(known);
      continue;
    }
    members = true;
    const row = rankedRow(policy, rows.texts);
    rows.byAddress.set(row.address, row);
    rows.byMint.set(row.mint, row);
    rows.byBankroll.set(row.bankroll, row);
    everywhere(row);
  }
  return members;
}
