import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { freshDatabase, urlOf } from '../support/database.ts';
import { freshPostgresUrl } from '../support/servers-of-run.ts';

const MIGRATE = path.resolve(import.meta.dirname, '../../start/migrate.ts');
const NO_TOPICS = 'Kafka: KAFKA_BROKERS is not set, no topics\n';

function migrate(env: NodeJS.ProcessEnv): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MIGRATE], { cwd: tmpdir(), env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

test('migrate brings Postgres to the current schema beside an embedded ClickHouse, and says that this is not its', async () => {
  const { code, out, err } = await migrate({ POSTGRES_URL: await freshPostgresUrl() });
  expect([code, err]).toEqual([0, '']);
  const [clickhouse, postgres, ...rest] = out.split('\n');
  expect(clickhouse).toBe(
    'ClickHouse: CLICKHOUSE_URL is not set, npm start migrates its embedded engine by itself',
  );
  expect(postgres).toMatch(/^Postgres: made 0001_agents\.sql, .*\.sql$/);
  expect(rest.join('\n')).toBe(NO_TOPICS);
});

test('… and ClickHouse beside an embedded Postgres', async () => {
  const store = await freshDatabase();
  expect(await migrate({ CLICKHOUSE_URL: urlOf(store) })).toEqual({
    code: 0,
    out: `ClickHouse: already current\nPostgres: POSTGRES_URL is not set, npm start migrates its embedded engine by itself\n${NO_TOPICS}`,
    err: '',
  });
  await store.close();
});
