import { ClickHouseError } from '@clickhouse/client';
import type { Store } from './client.ts';

const MOST_ROWS = 20_000;

interface Waiting {
  rows: readonly object[];
  done(): void;
  failed(error: unknown): void;
}

/**
 * A store whose inserts go together: what comes for a table while an insert into it is under way is one insert after
 * it. Many small writers then make few parts, and none waits longer than for the one insert before its own.
 */
export function coalescing(store: Store): Store {
  const tables = new Map<string, Waiting[]>();

  const work = async (table: string, waiting: Waiting[]) => {
    while (waiting.length > 0) {
      const together = waiting.splice(0, countUpTo(waiting, MOST_ROWS));
      const all = together.flatMap(({ rows }) => rows);
      await store.insert(table, all).then(
        () => together.forEach(({ done }) => void done()),
        (error) => refuse(table, together, error),
      );
    }
    tables.delete(table);
  };

  /** Rows that the engine refused must not hold up those that happened to go with them. */
  const refuse = async (table: string, together: readonly Waiting[], error: unknown) => {
    const alone = together.length > 1 && error instanceof ClickHouseError;
    for (const { rows, done, failed } of together)
      await (alone ? store.insert(table, rows) : Promise.reject(error)).then(done, failed);
  };

  return {
    ...store,
    insert: (table, rows) =>
      new Promise((done, failed) => {
        const one = { rows, done, failed };
        const waiting = tables.get(table);
        if (waiting !== undefined) return void waiting.push(one);
        const fresh = [one];
        tables.set(table, fresh);
        // Those that come in the same turn go with it.
        queueMicrotask(() => void work(table, fresh));
      }),
  };
}

/** How many of the first fit together; at least one. */
function countUpTo(waiting: readonly Waiting[], most: number): number {
  let rows = 0;
  const end = waiting.findIndex((one) => {
    rows += one.rows.length;
    return rows > most;
  });
  return end === -1 ? waiting.length : Math.max(1, end);
}
