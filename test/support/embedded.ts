import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { openEmbedded, type Store } from '../../clickhouse/client.ts';

/** Open as long as this process is, which has one engine: files that follow one another here share it. */
let directory: Promise<string> | null = null;
let databases = 0;

async function startEngine(): Promise<string> {
  const made = mkdtempSync(path.join(tmpdir(), 'embedded-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  await openEmbedded(made);
  return made;
}

/**
 * A new database with the current schema on the embedded engine of this process; it is dropped when the store is closed.
 * For whoever asks much: over HTTP a statement costs half as much again.
 * @param writers whether it says of itself, as a server's does not, that no other process writes to it.
 */
export async function embeddedDatabase(writers: 'one' | 'several' = 'one'): Promise<Store> {
  directory ??= startEngine();
  databases += 1;
  const name = `test_${databases}`;
  const { exclusive, ...store } = await openEmbedded(await directory, name);
  await store.command(inject('schemaSql'));
  return {
    ...store,
    ...(exclusive === undefined || writers === 'several' ? {} : { exclusive }),
    close: async () => {
      await store.command(`DROP DATABASE ${store.database} SYNC`);
      await store.close();
    },
  };
}
