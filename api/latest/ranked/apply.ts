import { OWN_SORTS, SORTS, type Sort } from '../../../schemas/responses/rankings.ts';
import type { RankedLoad, RowIndex } from './load.ts';
import { type RankedRow, rankedRow, setPolicy } from './row.ts';

export type Touched = Record<Sort, Set<RankedRow>>;

/** The rows, found by whatever a change is told by. */
export interface Rows extends RowIndex {
  byAddress: Map<string, RankedRow>;
  byMint: Map<string, RankedRow>;
  byBankroll: Map<string, RankedRow>;
  byPool: Map<string, RankedRow>;
  quotes: Map<string, string>;
}

export function noRows(): Rows {
  return {
    byAddress: new Map(),
    byMint: new Map(),
    byBankroll: new Map(),
    byPool: new Map(),
    quotes: new Map(),
  };
}

const touchedNothing = () => Object.fromEntries(SORTS.map((sort) => [sort, new Set()])) as Touched;

export interface Applied {
  /** Rows whose keys may have changed, by what they rank. */
  touched: Touched;
  /** Whether there are other policies than before. */
  members: boolean;
}

/** Puts what was read in its place, without waiting. */
export function applyLoad(rows: Rows, load: RankedLoad): Applied {
  const touched = touchedNothing();
  const members = applyPolicies(rows, load.policies, touched);
  const { byMint, byBankroll, byPool } = rows;

  const caps = new Map<RankedRow, bigint | null>();
  for (const key of load.caps.keys ?? byPool.keys()) {
    const row = byPool.get(key);
    if (row !== undefined) caps.set(row, null);
  }
  for (const { address, base_mint, quote_mint, cap } of load.caps.found) {
    const row = byMint.get(base_mint);
    if (row === undefined || row.quote !== quote_mint) continue;
    row.pool = address;
    byPool.set(address, row);
    caps.set(row, cap === null ? null : BigInt(cap));
  }
  for (const [row, cap] of caps) {
    row.cap = cap;
    touched.marketCap.add(row);
  }
  const balances = new Map(load.balances.found.map(({ address, amount }) => [address, BigInt(amount)]));
  for (const key of load.balances.keys ?? byBankroll.keys())
    set(byBankroll.get(key), touched.bankroll, (row) => {
      row.balance = balances.get(key) ?? null;
    });
  const fees = new Map(load.fees.found.map(({ mint, routed }) => [mint, BigInt(routed)]));
  for (const key of load.fees.keys ?? byMint.keys())
    set(byMint.get(key), touched.fees, (row) => {
      row.routed = fees.get(key) ?? 0n;
    });
  const names = new Map(load.names.found.map((name) => [name.address, name]));
  for (const key of load.names.keys ?? byMint.keys())
    set(byMint.get(key), new Set(), (row) => {
      row.name = names.get(key)?.name.toLowerCase() ?? '';
      row.symbol = names.get(key)?.symbol.toLowerCase() ?? '';
    });
  if (load.events !== null)
    for (const key of load.events.keys ?? byMint.keys()) {
      const found = load.events.found.get(key);
      set(byMint.get(key), touched.activity, (row) => {
        row.events = found?.row.count ?? 0;
        row.eventsUntil = (found?.until ?? Number.POSITIVE_INFINITY) * 1000;
      });
    }
  return { touched, members };
}

function set(row: RankedRow | undefined, touched: Set<RankedRow>, change: (row: RankedRow) => void): void {
  if (row === undefined) return;
  change(row);
  touched.add(row);
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
      setPolicy(known, policy);
      for (const sort of OWN_SORTS) touched[sort].add(known);
      continue;
    }
    members = true;
    const row = rankedRow(policy, rows.quotes);
    rows.byAddress.set(row.address, row);
    rows.byMint.set(row.mint, row);
    rows.byBankroll.set(row.bankroll, row);
    everywhere(row);
  }
  return members;
}
