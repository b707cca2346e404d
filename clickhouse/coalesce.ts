import { ClickHouseError } from '@clickhouse/client';
import { createBatcher } from '../runtime/batcher.ts';
import type { Store } from './client.ts';

const MOST_ROWS = 20_000;

/** Whether the engine answered and refused: a batch that it refuses because of one part is tried without that part. */
export const isRefusal = (error: unknown): boolean => error instanceof ClickHouseError;

/**
 * A store whose inserts into a table go together, so that many small writers make few parts. Rows that the engine
 * refuses do not hold up those that happened to go with them.
 */
export function coalescing(store: Store): Store {
  type Insert = (rows: readonly object[]) => Promise<void>;
  const tables = new Map<string, Insert>();
  const into = (table: string): Insert =>
    createBatcher({
      work: (all) => store.insert(table, all.flat()),
      sizeOf: (rows) => rows.length,
      most: MOST_ROWS,
      isDueToOneItem: isRefusal,
    });
  return {
    ...store,
    insert: (table, rows) => {
      const insert = tables.get(table) ?? into(table);
      tables.set(table, insert);
      return insert(rows);
    },
  };
}
