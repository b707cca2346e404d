import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migratePostgres } from '../../api/postgres/migrate.ts';
import { openPool } from '../../api/postgres/pool.ts';
import type { Db } from '../../api/postgres/port.ts';
import type { Store } from '../../clickhouse/client.ts';
import { migrate, migrations } from '../../clickhouse/schema/migrate.ts';
import { deadUrl } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';
import { emptyDatabase, urlOf } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { freshPostgresUrl } from '../support/servers-of-run.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

let store: Store;
let db: Db;
let env: NodeJS.ProcessEnv;
let ready: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  store = await emptyDatabase();
  const postgresUrl = await freshPostgresUrl();
  db = openPool(postgresUrl);
  const metricsPort = await freePort();
  ready = `http://127.0.0.1:${metricsPort}/ready`;
  env = {
    ...process.env,
    ...{ HOST: '127.0.0.1', PORT: '0', METRICS_PORT: String(metricsPort), LOG_LEVEL: 'fatal' },
    ...{ CLICKHOUSE_URL: urlOf(store), POSTGRES_URL: postgresUrl, SOLANA_RPC_URL: await deadUrl() },
  };
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all([store.close(), db.close()]);
});

function start() {
  const flags = ['--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, path.join(ROOT, 'api/main.ts')], {
    ...{ cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] },
  }) as ChildProcess & { stderr: NonNullable<ChildProcess['stderr']> };
  children.add(child);
  return { child, said: text(child.stderr), ended: once(child, 'exit') };
}

const newer = { name: '9999_of_tomorrow.sql', checksum: 'x' };

async function refusal(): Promise<string> {
  const { said, ended } = start();
  expect((await ended)[0]).toBe(1);
  return said;
}

test('the API waits for missing migrations, keeps serving when a newer one appears, and does not start on that', async () => {
  const { child, ended } = start();
  const asked = async () => {
    const response = await fetch(ready);
    return { status: response.status, ...((await response.json()) as { missing: string[] }) };
  };
  await awaited(async () =>
    expect(await asked()).toMatchObject({
      status: 503,
      missing: [
        expect.stringMatching(/^ClickHouse: .*lacks 0001_chain\.sql, .*: run npm run migrate$/),
        expect.stringMatching(/^Postgres: .*lacks 0001_agents\.sql, .*: run npm run migrate$/),
      ],
    }),
  );
  await Promise.all([migrate(store, null), migratePostgres(db)]);
  await awaited(async () => expect(await asked()).toMatchObject({ status: 200, missing: [] }));

  await store.insert('migrations', [newer]);
  await db.query('INSERT INTO agent_migrations (name, checksum) VALUES ($1, $2)', [
    newer.name,
    newer.checksum,
  ]);
  // The API looks each second which database serves.
  const heard = new Set<number>();
  await awaited(async () => {
    const { status, missing } = await asked();
    expect([status, missing]).toEqual([200, []]);
    heard.add(Math.trunc(Date.now() / 1_000));
    expect(heard.size).toBeGreaterThan(4);
  });
  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
  await ended;

  await db.query('DELETE FROM agent_migrations WHERE name = $1', [newer.name]);
  expect(await refusal()).toMatch(/^the database has migration 9999_of_tomorrow\.sql, which this version/);
  await store.command('TRUNCATE TABLE migrations');
  await store.insert(
    'migrations',
    migrations().map(({ name, checksum }) => ({ name, checksum })),
  );
  await db.query('INSERT INTO agent_migrations (name, checksum) VALUES ($1, $2)', [
    newer.name,
    newer.checksum,
  ]);
  expect(await refusal()).toMatch(/^the Postgres database has migration 9999_of_tomorrow\.sql, which this/);
});
