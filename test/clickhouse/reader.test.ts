import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRoutes } from '../../api/routes.ts';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { openDatabase } from '../../clickhouse/serving/serving.ts';
import { SETTINGS, startApi, type TestApi } from '../api/support/api.ts';
import {
  configRow,
  eventRow,
  key,
  mintRow,
  originRow,
  policyRow,
  venueAccountRow,
} from '../api/support/rows.ts';
import { type ClickHouseProcess, startClickHouse } from '../support/clickhouse-process.ts';
import { insertWritten } from '../support/written.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(path.join(tmpdir(), 'reader-test-'));
const file = (name: string) => path.join(directory, name);

let engine: ClickHouseProcess;
let store: Store;
let api: TestApi;

/** The embedded engine always uses its default account: gives that the rights of the deployment's API account. */
function configured(): string {
  const account = readFileSync(path.join(ROOT, 'deploy/clickhouse/reader.xml'), 'utf8')
    .replace('/run/secrets/clickhouse-reader', path.join(ROOT, 'deploy/devnet-secrets/clickhouse-reader'))
    .replace(/<(\/?)reader>(?=[\s\S]*<\/users>)(?<=<users>[\s\S]*)/g, '<$1default>')
    .replace(/<password .*\/>/, '<password></password>')
    .replace('<profiles>', '<profiles><default></default>');
  writeFileSync(
    file('users.xml'),
    account.replace('</users>', '</users><quotas><default></default></quotas>'),
  );
  writeFileSync(
    file('engine.xml'),
    `<clickhouse><users_config>${file('users.xml')}</users_config></clickhouse>`,
  );
  return file('engine.xml');
}

beforeAll(async () => {
  const writing = await startClickHouse(file('data'));
  const writer = await openServer(`${writing.url}/bankroll`, null);
  await migrate(writer, null);
  await writer.insert('policies', [policyRow('coin', 'usd')]);
  await writer.insert('mints', [mintRow('coin', 6), mintRow('usd', 6)]);
  await insertWritten(writer, 'venue_accounts', [venueAccountRow('coin', 'perp')]);
  await writer.insert('protocol_config', [configRow()]);
  await writer.insert('origins', [originRow(1, 'an origin')]);
  await writer.insert('events', [eventRow('coin', 'Routed', 1)]);
  await writer.close();
  for (const database of ['bankroll_r1', 'other']) {
    const another = await openServer(`${writing.url}/${database}`, null);
    await another.command('CREATE TABLE policies ENGINE = MergeTree ORDER BY n AS SELECT 1 AS n');
    await another.close();
  }
  await writing.stop();
  engine = await startClickHouse(file('data'), 0, configured());
  store = await openServer(`${engine.url}/bankroll`, null, 'read');
  api = await startApi(store);
});
afterAll(async () => {
  await api?.close();
  await store?.close();
  await engine?.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('every read route answers with the account that the deployment gives the API', async () => {
  const known = readRoutes({ latest: api.latest, settings: SETTINGS, readPosts: null });
  const routes = known.map(({ path }) => path.replace(':mint', key('coin')));
  expect(routes.length).toBeGreaterThan(15);
  for (const sort of ['profit', 'activity', 'newest']) routes.push(`/rankings?sort=${sort}&search=c`);
  routes.push('/quotes?search=a');
  for (const route of routes) {
    const { status, text } = await api.get(route);
    expect(status, `${route} ${text}`).toBe(200);
  }
});

test('the API’s account reads the databases that may serve, no other one, and writes nothing', async () => {
  const count = 'SELECT count() AS n FROM policies';
  const replayed = await openDatabase(`${engine.url}/bankroll`, 'bankroll_r1', null, 'read');
  expect(await replayed.query(count)).toEqual([{ n: '1' }]);
  await replayed.close();
  const other = await openDatabase(`${engine.url}/bankroll`, 'other', null, 'read');
  await expect(other.query(count)).rejects.toThrow(/Not enough privileges/);
  await other.close();
  await expect(store.insert('policies', [policyRow('two', 'usd')])).rejects.toThrow(/readonly|privileges/);
  for (const statement of [
    'TRUNCATE TABLE policies',
    'DROP TABLE events',
    'CREATE DATABASE bankroll_x',
    'SET readonly = 0',
  ])
    await expect(store.command(statement), statement).rejects.toThrow(/readonly|privileges/);
  expect(await store.query(count)).toEqual([{ n: '1' }]);
});

test.each([
  "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')",
  "SELECT * FROM file('/etc/passwd', 'CSV', 'a String')",
  "SELECT * FROM remote('127.0.0.1', 'other', 'policies')",
  "SELECT * FROM s3('http://127.0.0.1:1/bucket/x', 'CSV', 'a String')",
  "SELECT * FROM hdfs('hdfs://127.0.0.1:1/x', 'CSV', 'a String')",
  "SELECT * FROM mysql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "SELECT * FROM postgresql('127.0.0.1:1', 'a', 'b', 'c', 'd')",
  "SELECT * FROM redis('127.0.0.1:1', 'k', 'k String')",
  "SELECT * FROM sqlite('/etc/passwd', 'x')",
  "SELECT * FROM executable('x', 'CSV', 'a String')",
  "DESCRIBE url('http://127.0.0.1:1/', 'CSV')",
  'SELECT * FROM view(SELECT * FROM other.policies)',
  'SELECT 1 FROM policies WHERE 1 IN (SELECT n FROM other.policies)',
  'SHOW CREATE TABLE other.policies',
  'SELECT * FROM system.users',
  'SELECT * FROM system.grants',
  'SELECT * FROM system.quotas',
  'SHOW CREATE USER default',
  "INSERT INTO FUNCTION url('http://127.0.0.1:1/', 'CSV', 'a String') SELECT 'x'",
  "INSERT INTO FUNCTION file('x.csv', 'CSV', 'a String') SELECT 'x'",
  'INSERT INTO events SELECT * FROM events',
  'ALTER TABLE policies DELETE WHERE 1',
  'ALTER TABLE policies UPDATE paused = 1 WHERE 1',
  'ALTER TABLE policies ADD COLUMN x String',
  'ALTER TABLE policies FREEZE',
  'DELETE FROM policies WHERE 1',
  'OPTIMIZE TABLE policies',
  'EXCHANGE TABLES policies AND events',
  'DETACH TABLE policies',
  'DROP DATABASE bankroll_r1',
  'CREATE TABLE x ENGINE = Memory AS SELECT 1',
  'CREATE TEMPORARY TABLE x (a UInt8)',
  'CREATE MATERIALIZED VIEW x ENGINE = Memory AS SELECT 1',
  "CREATE DICTIONARY x (k UInt64) PRIMARY KEY k SOURCE(HTTP(URL 'http://127.0.0.1:1' FORMAT CSV)) LAYOUT(FLAT()) LIFETIME(0)",
  'CREATE FUNCTION x AS (a) -> a',
  "CREATE DATABASE x ENGINE = PostgreSQL('127.0.0.1:1', 'a', 'b', 'c')",
  'CREATE NAMED COLLECTION x AS a = 1',
  'CREATE USER x',
  "ALTER USER default IDENTIFIED BY 'x'",
  'GRANT ALL ON *.* TO default',
  "BACKUP TABLE policies TO File('/tmp/x')",
  'SYSTEM SHUTDOWN',
  'SYSTEM STOP MERGES policies',
  'SYSTEM DROP MARK CACHE',
  'SYSTEM FLUSH LOGS',
])('the API’s account may not run: %s', async (statement) => {
  await expect(store.command(statement)).rejects.toThrow(/Not enough privileges/);
});
