import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { openEmbedded, type Store } from '../../clickhouse/client.ts';

/** The engine of this process: files that follow one another here share it. */
interface Engine {
  directory: string;
  /** Open as long as the process is. */
  keeper: Store;
  /** Databases with the current schema and no rows, which nobody has. */
  empty: string[];
  databases: number;
}

let engine: Promise<Engine> | null = null;

async function startEngine(): Promise<Engine> {
  const directory = mkdtempSync(path.join(tmpdir(), 'embedded-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return { directory, keeper: await openEmbedded(directory), empty: [], databases: 0 };
}

/** Statements behind which a database has other tables than the schema's. */
const CHANGES_TABLES = /\b(CREATE|ALTER|DROP|RENAME|EXCHANGE|DETACH)\b/i;

/**
 * A database of its own with the current schema and no rows, on the embedded engine of this process. For whoever asks
 * much: over HTTP a statement costs half as much again. To make its tables costs fifteen times what it costs to empty
 * them, so that whoever comes after its store was closed has them again.
 * @param writers whether it says of itself, as a server's does not, that no other process writes to it.
 */
export async function embeddedDatabase(writers: 'one' | 'several' = 'one'): Promise<Store> {
  engine ??= startEngine();
  const here = await engine;
  const emptied = here.empty.pop();
  if (emptied === undefined) here.databases += 1;
  const name = emptied ?? `test_${here.databases}`;
  const { exclusive, ...store } = await openEmbedded(here.directory, name);
  if (emptied === undefined) await store.command(inject('schemaSql'));
  let changed = false;
  return {
    ...store,
    ...(exclusive === undefined || writers === 'several' ? {} : { exclusive }),
    command: (sql, params) => {
      changed ||= CHANGES_TABLES.test(sql);
      return store.command(sql, params);
    },
    close: async () => {
      // What was asked is answered first, and nobody can ask for more.
      await store.close();
      if (changed) return here.keeper.command(`DROP DATABASE ${name} SYNC`);
      await here.keeper.command(`TRUNCATE TABLES FROM ${name} NOT LIKE 'migrations'`);
      here.empty.push(name);
    },
  };
}
