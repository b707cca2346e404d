import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openEmbedded, openServer, type Store } from '../../clickhouse/client.ts';
import { freshDatabaseUrl } from '../support/database.ts';

/** Limit of a usual statement. */
const LIMIT_MS = 2_000;
/** A statement that takes twice as long, and sends nothing before its end. */
const SLOW = `INSERT INTO copied SELECT number + sleepEachRow(0.5) FROM numbers(8)
SETTINGS max_execution_time = 0, max_block_size = 1`;

const directory = mkdtempSync(path.join(tmpdir(), 'patient-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const url = freshDatabaseUrl();
const STORES: Record<string, (withinMs?: number) => Promise<Store>> = {
  'a server': (withinMs) => openServer(url, null, withinMs === undefined ? 'write' : 'read', withinMs),
  'the engine in this process': (withinMs) => openEmbedded(directory, 'bankroll', withinMs),
};

/** Opens and closes outside the limit, as even quick statements may be slow on a busy machine. */
async function atLeisure<T>(open: () => Promise<Store>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await open();
  const done = await work(store);
  await store.close();
  return done;
}

test.each(Object.entries(STORES))(
  'a patient connection to %s waits for a statement beyond the usual limit',
  async (_, open) => {
    await atLeisure(open, (store) =>
      store.command('CREATE TABLE copied (n UInt64) ENGINE = MergeTree ORDER BY n'),
    );
    const store = await open(LIMIT_MS);
    const patient = store.patient?.();
    await patient?.command(SLOW);
    await patient?.close();
    await store.close();
    await atLeisure(open, async (again) => {
      expect(await again.query('SELECT count() AS n FROM copied')).toEqual([{ n: '8' }]);
      await again.command(`DROP DATABASE ${again.database} SYNC`);
    });
  },
);

test('a query over a usual connection is given up after the limit', async () => {
  const empty = freshDatabaseUrl();
  await (await openServer(empty, null)).close();
  const store = await openServer(empty, null, 'read', LIMIT_MS);
  await expect(
    store.query('SELECT sleepEachRow(0.5) FROM numbers(12) SETTINGS max_block_size = 1'),
  ).rejects.toThrow('Timeout error');
  // The server still runs the statement.
  const patient = store.patient?.();
  await patient?.command(`DROP DATABASE ${store.database} SYNC`);
  await patient?.close();
  await store.close();
});
