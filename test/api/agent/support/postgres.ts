import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openEmbedded } from '../../../../api/postgres/embedded.ts';
import { migratePostgres } from '../../../../api/postgres/migrate.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { placeEmbedded } from '../../../support/pglite.ts';
import { freshPostgresUrl } from '../../../support/servers-of-run.ts';
import { patientPool } from './patient-db.ts';

export type Engine = 'PGlite' | 'Postgres';
export const ENGINES: readonly Engine[] = ['PGlite', 'Postgres'];

/** An empty database of the embedded engine; nothing of it is left when it is closed. */
export async function emptyEmbedded(): Promise<Db> {
  const directory = mkdtempSync(path.join(tmpdir(), 'pglite-'));
  await placeEmbedded(directory);
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
  const db = patientPool(await freshPostgresUrl());
  await migratePostgres(db);
  return { db, close: () => db.close() };
}
