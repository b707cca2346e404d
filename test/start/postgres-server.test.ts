import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { openPool } from '../../api/postgres/pool.ts';
import type { Db } from '../../api/postgres/port.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { key, PROGRAM, policyRow } from '../api/support/rows.ts';
import { deadUrl } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { freshDatabase, urlOf } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { freshPostgresUrl } from '../support/servers-of-run.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');

/** `npm start` over this Postgres, a ClickHouse database of its own, and a stream and node that do not answer. */
async function start(postgresUrl: string) {
  const store = await freshDatabase();
  await store.insert('policies', [policyRow('coin', 'usd')]);
  const directory = mkdtempSync(path.join(tmpdir(), 'postgres-server-'));
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN], {
    cwd: directory,
    env: {
      ...{ DATA_DIR: directory, PORT: String(port), LOG_LEVEL: 'fatal', UV_THREADPOOL_SIZE: '16' },
      ...{ CLICKHOUSE_URL: urlOf(store), POSTGRES_URL: postgresUrl },
      PROGRAM_ID: encodeBase58(PROGRAM),
      ...{ YELLOWSTONE_ENDPOINT: '127.0.0.1:1', SOLANA_RPC_URL: await deadUrl() },
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = text(child.stderr);
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    await store.close();
    rmSync(directory, { recursive: true });
  });
  const ask = (route: string) => fetch(`http://127.0.0.1:${port}${route}`);
  return { ended, said, ask };
}

async function freshPostgres(): Promise<{ url: string; db: Db }> {
  const url = await freshPostgresUrl();
  const db = openPool(url);
  onTestFinished(() => db.close());
  return { url, db };
}

test('npm start creates the tables for agents on a Postgres server, once even if two start together', async () => {
  const { url, db } = await freshPostgres();
  for (const { ask } of await Promise.all([start(url), start(url)])) {
    await awaited(() => ask('/health'));
    // A request for posts before Postgres is migrated waits for it.
    const answer = await awaited(async () => {
      const got = await ask(`/coins/${key('coin')}/posts`);
      // On a very busy machine it is not migrated within the request's time.
      expect(got.status).toBeLessThan(500);
      return got;
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { posts: [] }]);
  }
  expect(await db.query('SELECT count(*)::int AS keys FROM agent_keys')).toEqual([{ keys: 1 }]);
});

test('npm start ends with a sentence where the login of Postgres may not create the tables for agents', async () => {
  const { url, db } = await freshPostgres();
  const weak = new URL(url);
  weak.username = `weak_${randomBytes(4).toString('hex')}`;
  await db.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  await db.query(`CREATE ROLE ${weak.username} LOGIN PASSWORD 'password'`);
  const { ended, said } = await start(weak.href);
  expect([(await ended)[0], await said]).toEqual([
    1,
    "the login of POSTGRES_URL may not bring the agents' tables to the current schema (permission denied for schema public): let one that may do it once\n",
  ]);
});
