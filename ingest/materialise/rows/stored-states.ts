import type { Store } from '../../../clickhouse/client.ts';
import { LATEST_TABLES, type LatestTable } from '../../../clickhouse/tables.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { isFromRpc, type SeenState, type StoredRow } from './seen.ts';

/** Addresses in one query: the list travels as a bound parameter, in the URL of the request. */
export const ADDRESSES_PER_QUESTION = 1_000;

/** Stored rows by the bytes of their address, and then by table. */
export type Stored = ReadonlyMap<string, ReadonlyMap<LatestTable, StoredRow>>;

/**
 * The stored rows that states of a batch have to be compared with: those of addresses that were read over RPC or seen
 * at a time that is not known and, in whatever table, those of addresses where nothing stands. Any other state that the
 * stream brings stands by itself.
 */
export async function storedStates(store: Store, states: readonly SeenState[]): Promise<Stored> {
  const asked = new Map<LatestTable, Map<string, string>>();
  for (const seen of states) {
    if (seen.table !== '' && !isFromRpc(seen) && seen.seenAt !== null) continue;
    for (const table of seen.table === '' ? LATEST_TABLES : [seen.table]) {
      const keys = asked.get(table) ?? new Map<string, string>();
      asked.set(table, keys.set(encodeBase58(seen.record.address), seen.key));
    }
  }
  const stored = new Map<string, Map<LatestTable, StoredRow>>();
  for (const [table, keys] of asked)
    for (const addresses of chunks([...keys.keys()], ADDRESSES_PER_QUESTION)) {
      const rows = await store.query<StoredRow>(
        `SELECT * FROM ${table} FINAL WHERE address IN {addresses:Array(String)}`,
        { addresses },
      );
      for (const row of rows) {
        const key = keys.get(row.address) as string;
        const held = stored.get(key) ?? new Map<LatestTable, StoredRow>();
        stored.set(key, held.set(table, row));
      }
    }
  return stored;
}
