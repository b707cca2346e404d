import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inject } from 'vitest';
import { openEmbedded, type Store } from '../../clickhouse/client.ts';

/** The engine of this process, which test files that run one after another in it share. */
interface Engine {
  directory: string;
  /** Keeps the engine running for as long as the process. */
  keeper: Store;
  /** Names of databases with the current schema and no rows that are not in use. */
  empty: string[];
  databases: number;
}

let engine: Promise<Engine> | null = null;

async function startEngine(): Promise<Engine> {
  const directory = mkdtempSync(path.join(tmpdir(), 'embedded-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return { directory, keeper: await openEmbedded(directory), empty: [], databases: 0 };
}

/** Statements after which a database may have tables other than the schema's. */
const CHANGES_TABLES = /\b(CREATE|ALTER|DROP|RENAME|EXCHANGE|DETACH)\b/i;

/**
 * A database of its own with the current schema and no rows, on the embedded engine of this process. For tests with
 * many statements: over HTTP each costs half as much again. Making the tables costs fifteen times what emptying them
 * does, so a database is emptied when its store is closed, and used again.
 * @param writers 'one': the store says, unlike that of a server, that no other process writes to it
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
      // Queries under way are answered first, and no new ones are taken.
      await store.close();
      if (changed) return here.keeper.command(`DROP DATABASE ${name} SYNC`);
      await here.keeper.command(`TRUNCATE TABLES FROM ${name} NOT LIKE 'migrations'`);
      here.empty.push(name);
    },
  };
}
