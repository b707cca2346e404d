import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openEmbedded, openServer, type Store } from '../../clickhouse/client.ts';
import { freshDatabaseUrl } from '../support/database.ts';

/** What a statement of another kind is waited for. */
const LIMIT_MS = 2_000;
/** Twice as long, and not a word before its end. */
const SLOW = `INSERT INTO copied SELECT number + sleepEachRow(0.5) FROM numbers(8)
SETTINGS max_execution_time = 0, max_block_size = 1`;

const directory = mkdtempSync(path.join(tmpdir(), 'patient-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const STORES: Record<string, () => Promise<Store>> = {
  'a server': () => openServer(freshDatabaseUrl(), null, 'write', LIMIT_MS),
  'the engine in this process': () => openEmbedded(directory, 'bankroll', LIMIT_MS),
};

test.each(Object.keys(STORES))(
  '%s is waited for as long as a statement takes by who asks so',
  async (name) => {
    const store = await (STORES[name] as () => Promise<Store>)();
    await store.command('CREATE TABLE copied (n UInt64) ENGINE = MergeTree ORDER BY n');
    const patient = store.patient?.();
    await patient?.command(SLOW);
    await patient?.close();
    expect(await store.query('SELECT count() AS n FROM copied')).toEqual([{ n: '8' }]);
    await store.command(`DROP DATABASE ${store.database} SYNC`);
    await store.close();
  },
);

test('what nobody is so patient for is given up', async () => {
  const store = await openServer(freshDatabaseUrl(), null, 'write', LIMIT_MS);
  await expect(
    store.query('SELECT sleepEachRow(0.5) FROM numbers(12) SETTINGS max_block_size = 1'),
  ).rejects.toThrow('Timeout error');
  // The server is still at it.
  const patient = store.patient?.();
  await patient?.command(`DROP DATABASE ${store.database} SYNC`);
  await patient?.close();
  await store.close();
});
