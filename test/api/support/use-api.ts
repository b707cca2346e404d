import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type ApiOptions, NOW, startApi, type TestApi } from './api.ts';
import { emptyStore } from './store.ts';

/**
 * An API over an engine of its own, for the tests of one file: before each of them all tables are emptied, the clock
 * stands at NOW and `seed` has put its rows.
 * @returns a holder, filled before the first test.
 */
export function useApi(
  seed: (api: TestApi) => Promise<void> = async () => undefined,
  options: ApiOptions = {},
): { api: TestApi } {
  const held = {} as { api: TestApi };
  let close: () => Promise<void>;
  let tables: string[];

  beforeAll(async () => {
    const engine = await emptyStore();
    const rows = await engine.store.query<{ name: string }>(
      `SELECT name FROM system.tables
       WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'migrations'`,
    );
    tables = rows.map((row) => row.name);
    held.api = await startApi(engine.store, options);
    close = async () => {
      await held.api.close();
      await engine.close();
    };
  });
  afterAll(() => close());
  beforeEach(async () => {
    await held.api.truncate(...tables);
    held.api.at(NOW);
    await seed(held.api);
  });
  return held;
}
