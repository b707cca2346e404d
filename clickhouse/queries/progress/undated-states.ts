import type { Store } from '../../client.ts';
import { LATEST_TABLES, type LatestTable } from '../../tables.ts';

export interface UndatedState {
  address: string;
  slot: bigint;
}

/** The first states behind an address, so many at most, that stand as of a slot whose time no source knew. */
export async function undatedStates(store: Store, behind: string, most: number): Promise<UndatedState[]> {
  const tables = await tablesWithAny(store, behind);
  if (tables.length === 0) return [];
  const parts = tables.map(
    (table) => `SELECT address, slot FROM ${table} FINAL
      WHERE block_time IS NULL AND address IN (
        SELECT DISTINCT address FROM ${table} WHERE block_time IS NULL AND address > {behind:String})`,
  );
  const rows = await store.query<{ address: string; slot: string }>(
    `SELECT address, toString(slot) AS slot FROM (${parts.join(' UNION ALL ')}) ORDER BY address LIMIT {most:UInt32}`,
    { behind, most },
  );
  return rows.map(({ address, slot }) => ({ address, slot: BigInt(slot) }));
}

/** Those where any state ever written has none: nearly always there is no such table, and the one column tells. */
async function tablesWithAny(store: Store, behind: string): Promise<LatestTable[]> {
  const parts = LATEST_TABLES.map(
    (table) =>
      `(SELECT '${table}' AS name FROM ${table} WHERE block_time IS NULL AND address > {behind:String} LIMIT 1)`,
  );
  const rows = await store.query<{ name: LatestTable }>(parts.join(' UNION ALL '), { behind });
  return rows.map(({ name }) => name);
}
