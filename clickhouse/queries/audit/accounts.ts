import type { Store } from '../../client.ts';
import type { LatestTable } from '../../tables.ts';
import { AT_LOW_COST } from './ranges.ts';

/** A stored state with the columns of its table. */
export type StoredState = { address: string; slot: string; exists: 0 | 1 } & Record<string, unknown>;

/** The next states behind an address, in their order. */
export function statesAfter(
  store: Store,
  table: LatestTable,
  after: string,
  limit: number,
): Promise<StoredState[]> {
  return store.query<StoredState>(
    `SELECT * FROM ${table} FINAL WHERE address > {after:String} ORDER BY address LIMIT {limit:UInt32} ${AT_LOW_COST}`,
    { after, limit },
  );
}

export function statesAt(
  store: Store,
  table: LatestTable,
  addresses: readonly string[],
): Promise<StoredState[]> {
  return store.query<StoredState>(
    `SELECT * FROM ${table} FINAL WHERE address IN {addresses:Array(String)} ${AT_LOW_COST}`,
    { addresses },
  );
}

/** Those of the addresses of which at least one of the tables has a state. */
export async function storedAmong(
  store: Store,
  tables: readonly LatestTable[],
  addresses: readonly string[],
): Promise<Set<string>> {
  const parts = tables.map(
    (table) => `SELECT address FROM ${table} WHERE address IN {addresses:Array(String)}`,
  );
  const rows = await store.query<{ address: string }>(
    `SELECT DISTINCT address FROM (${parts.join(' UNION ALL ')}) ${AT_LOW_COST}`,
    { addresses },
  );
  return new Set(rows.map(({ address }) => address));
}

/** The mint of the policy at one of these addresses; null where none is there. */
export async function mintOfPolicy(store: Store, addresses: readonly string[]): Promise<string | null> {
  const [row] = await store.query<{ mint: string }>(
    `SELECT mint FROM policies FINAL WHERE address IN {addresses:Array(String)} LIMIT 1 ${AT_LOW_COST}`,
    { addresses },
  );
  return row?.mint ?? null;
}
