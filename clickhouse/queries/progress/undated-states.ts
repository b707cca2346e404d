import type { Store } from '../../client.ts';
import { LATEST_TABLES, type LatestTable } from '../../tables.ts';

export interface UndatedState {
  address: string;
  slot: bigint;
}

/** The first `most` states behind an address that stand as of a slot whose time no source knew. */
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

/** The block time of a state of undated_hours, as it became known since; null where it did not. */
export const TOLD_TIME = `JSONExtract(state, 'block_time', 'Nullable(Int64)')`;

/**
 * The first `most` closing states behind one, by slot and address, whose hour is not known yet, even where later states
 * have followed. There are few: each is of a slot whose time was not known when its state came.
 */
export async function waitingHours(
  store: Store,
  behind: UndatedState | null,
  most: number,
): Promise<UndatedState[]> {
  const rows = await store.query<{ address: string; slot: string }>(
    `SELECT address, toString(slot) AS slot FROM undated_hours FINAL
     WHERE (undated_hours.slot, address) > ({slot:UInt64}, {address:String})
       AND ${TOLD_TIME} IS NULL
     ORDER BY undated_hours.slot, address LIMIT {most:UInt32}`,
    { slot: behind?.slot ?? 0n, address: behind?.address ?? '', most },
  );
  return rows.map(({ address, slot }) => ({ address, slot: BigInt(slot) }));
}

/** The tables in which any state ever written has no time: nearly always none, and one column is enough to tell. */
async function tablesWithAny(store: Store, behind: string): Promise<LatestTable[]> {
  const parts = LATEST_TABLES.map(
    (table) =>
      `(SELECT '${table}' AS name FROM ${table} WHERE block_time IS NULL AND address > {behind:String} LIMIT 1)`,
  );
  const rows = await store.query<{ name: LatestTable }>(parts.join(' UNION ALL '), { behind });
  return rows.map(({ name }) => name);
}
