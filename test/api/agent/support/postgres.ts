import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbedded } from '../../../../api/postgres/embedded.ts';
import { migratePostgres } from '../../../../api/postgres/migrate.ts';
import { openPool } from '../../../../api/postgres/pool.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { freshPostgresUrl } from '../../../support/servers-of-run.ts';

export type Engine = 'PGlite' | 'Postgres';
export const ENGINES: readonly Engine[] = ['PGlite', 'Postgres'];

const MODULES = path.resolve('node_modules');

/** A directory of the embedded engine as its first start leaves it: to open a copy takes a sixth of what making one does. */
async function embeddedDirectory(): Promise<string> {
  const { version } = JSON.parse(
    readFileSync(path.join(MODULES, '@electric-sql/pglite/package.json'), 'utf8'),
  ) as { version: string };
  const made = path.join(MODULES, '.cache', `pglite-${version}`);
  if (!existsSync(made)) {
    const making = `${made}.${process.pid}`;
    await (await openEmbedded(making)).close();
    try {
      renameSync(making, made);
    } catch {
      // Another was faster.
      rmSync(making, { recursive: true, force: true });
    }
  }
  const directory = mkdtempSync(path.join(tmpdir(), 'pglite-'));
  cpSync(made, directory, { recursive: true });
  return directory;
}

/** An empty database of the embedded engine; nothing of it is left when it is closed. */
export async function emptyEmbedded(): Promise<Db> {
  const directory = await embeddedDirectory();
  const db = await openEmbedded(directory);
  return {
    ...db,
    close: async () => {
      await db.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The same, migrated. */
export async function freshEmbedded(): Promise<Db> {
  const db = await emptyEmbedded();
  await migratePostgres(db);
  return db;
}

/** A migrated database of the engine, and how to end it. */
export async function freshDb(engine: Engine): Promise<{ db: Db; close(): Promise<void> }> {
  if (engine === 'PGlite') {
    const db = await freshEmbedded();
    return { db, close: () => db.close() };
  }
  const db = openPool(await freshPostgresUrl());
  await migratePostgres(db);
  return { db, close: () => db.close() };
}
