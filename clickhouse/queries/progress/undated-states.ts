import type { Store } from '../../client.ts';
import { LATEST_TABLES } from '../../tables.ts';

export interface UndatedState {
  address: string;
  slot: bigint;
}

/**
 * The first states behind an address, so many at most, that stand as of a slot whose time no source knew. What has none
 * is looked for in the one column first: that most have one costs nothing.
 */
export async function undatedStates(store: Store, behind: string, most: number): Promise<UndatedState[]> {
  const parts = LATEST_TABLES.map(
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
