import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config/config.ts';
import { openStores } from '../../start/stores.ts';

test('readers are answered while all connections of ingestion are busy', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'stores-'));
  const { store, reads } = await openStores(readConfig({ DATA_DIR: directory }));
  let done = 0;
  const busy = Array.from({ length: 12 }, () =>
    store.query('SELECT sleepEachRow(2)').then(() => {
      done += 1;
    }),
  );
  expect(await reads.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  // Behind them on the same four it would be answered when nine are done.
  expect(done).toBeLessThan(9);
  await Promise.all(busy);
  await store.close();
  rmSync(directory, { recursive: true });
});
