import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbedded, type Store } from '../../../clickhouse/client.ts';
import { migrate } from '../../../clickhouse/migrate.ts';

/** An engine with the current schema and no rows. */
export async function emptyStore(): Promise<{ store: Store; close(): Promise<void> }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'api-test-'));
  const store = await openEmbedded(directory);
  await migrate(store);
  return {
    store,
    close: async () => {
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
