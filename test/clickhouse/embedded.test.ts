import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbedded } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/migrate.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'embedded-test-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('a store that is closed answers what was asked before, and refuses what is asked after', async () => {
  const store = await openEmbedded(directory);
  const asked = Array.from({ length: 12 }, (_, at) =>
    store.query<{ at: number }>('SELECT {at:UInt8} AS at, sleepEachRow(0.005) AS s', { at }),
  );
  await store.close();
  expect((await Promise.all(asked)).map(([row]) => row?.at)).toEqual(asked.map((_, at) => at));
  await expect(store.query('SELECT 1')).rejects.toThrow('the database was closed');
  await store.close();
});

test('what was written is there when the directory is opened again', async () => {
  const first = await openEmbedded(directory);
  await migrate(first);
  await first.insert('metadata_documents', [
    { mint: 'm', read_at: '1', uri: 'u', image_url: null, error: null },
  ]);
  await first.close();
  const second = await openEmbedded(directory);
  expect(await migrate(second)).toEqual([]);
  expect(await second.query('SELECT mint, uri FROM metadata_documents')).toEqual([{ mint: 'm', uri: 'u' }]);
  await second.close();
});

test('tables are in an Atomic database, which the name must be one of', async () => {
  const store = await openEmbedded(directory, 'another');
  expect(await store.query('SELECT engine FROM system.databases WHERE name = currentDatabase()')).toEqual([
    { engine: 'Atomic' },
  ]);
  await store.close();
  await expect(openEmbedded(directory, 'x; DROP')).rejects.toThrow('no database name');
});
