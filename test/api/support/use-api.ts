import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { type ApiOptions, NOW, startApi, type TestApi } from './api.ts';

/**
 * An API over a database of its own, for the tests of one file: before each of them all tables are emptied, the clock
 * stands at NOW and `seed` has put its rows.
 * @returns a holder, filled before the first test.
 */
export function useApi(
  seed: (api: TestApi) => Promise<void> = async () => undefined,
  options: ApiOptions = {},
): { api: TestApi } {
  const held = {} as { api: TestApi };
  let store: Store;

  beforeAll(async () => {
    store = await embeddedDatabase();
    held.api = await startApi(store, options);
  });
  afterAll(async () => {
    await held.api.close();
    await store.close();
  });
  beforeEach(async () => {
    await held.api.truncate(...(await filledTables(store)));
    held.api.at(NOW);
    await seed(held.api);
  });
  return held;
}

/** Emptying an empty table costs as much as any other, and a test fills a few of fifty. */
async function filledTables(store: Store): Promise<string[]> {
  const rows = await store.query<{ name: string }>(
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND total_rows > 0 AND name != 'migrations'`,
  );
  return rows.map(({ name }) => name);
}
