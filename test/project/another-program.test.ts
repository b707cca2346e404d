import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openEmbedded, type Store } from '../../clickhouse/client.ts';
import { declareProgram } from '../../clickhouse/queries/progress/indexed-program.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { openDatabase, replayDatabase } from '../../clickhouse/serving/serving.ts';
import { createKafkaClient } from '../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../ingest/log/kafka/cluster.ts';
import { ensureTopics, topicName } from '../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../ingest/log/kafka/writer.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { key } from '../ingest/materialise/support/records.ts';
import { gapRecord, markerRecord } from '../ingest/support/records.ts';
import { emptyDatabase, freshDatabase, urlOf } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { brokerMissing } from '../support/kafka.ts';
import { sharedBrokers } from '../support/servers-of-run.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const OURS = key('ours');
const THEIRS = key('theirs');
const missing = brokerMissing();

const dataDir = mkdtempSync(path.join(tmpdir(), 'another-program-'));
const prefix = `another-program-${process.pid}-${Date.now()}`;
const children = new Set<ChildProcess>();
let store: Store;
/** Only ClickHouse and Kafka answer here: no command asks anything else before it knows the program. */
let env: Record<string, string>;

beforeAll(async () => {
  store = await freshDatabase();
  await declareProgram(store, THEIRS, null);
  const nobody = `127.0.0.1:${await freePort()}`;
  env = {
    ...{ DATA_DIR: dataDir, LOG_LEVEL: 'fatal', PORT: '0', PROGRAM_ID: OURS },
    ...{ CLICKHOUSE_URL: urlOf(store), POSTGRES_URL: `postgres://${nobody}/none`, KAFKA_BROKERS: nobody },
    ...{ YELLOWSTONE_ENDPOINT: nobody, SOLANA_RPC_URL: `http://${nobody}`, KAFKA_TOPIC_PREFIX: prefix },
  };
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const clientOf = async (program: string) =>
  createKafkaClient(
    {
      ...{ brokers: await sharedBrokers(), tls: false, sasl: null, clientId: 'test' },
      program: decodeKey(program),
    },
    createLogger('silent', 'test'),
  );

/** Runs a command to its end. @returns its exit code and its last line */
async function run(file: string, own: Record<string, string> = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, ['--disable-warning=TimeoutNegativeWarning', file], {
    cwd: ROOT,
    env: { PATH, NODE_COMPILE_CACHE, UV_THREADPOOL_SIZE: '16', ...env, ...own },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.add(child);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, last: said.trimEnd().split('\n').at(-1) };
}

/** The sentence does not name the database, as its URL may hold secrets. */
const REFUSED = {
  code: 1,
  last: expect.stringMatching(
    new RegExp(
      `^the database \\S+ is of the program ${THEIRS}, and PROGRAM_ID is ${OURS}: set PROGRAM_ID to`,
    ),
  ),
};

describe('with a database of another program', () => {
  test.each([
    'ingest/commands/materialise.ts',
    'ingest/commands/poll.ts',
    'ingest/commands/audit.ts',
    'api/main.ts',
  ])('%s exits with 1 and says that PROGRAM_ID is not the program of the database', async (file) => {
    expect(await run(file)).toEqual(REFUSED);
  });

  test('npm start refuses a ClickHouse server and an embedded engine that hold another program', async () => {
    expect(await run('start/main.ts', { KAFKA_BROKERS: '' })).toEqual(REFUSED);
    const own = await openEmbedded(path.join(dataDir, 'clickhouse'));
    await migrate(own, null);
    await declareProgram(own, THEIRS, null);
    await own.close();
    const embedded = { KAFKA_BROKERS: '', CLICKHOUSE_URL: '', POSTGRES_URL: '' };
    expect(await run('start/main.ts', embedded)).toEqual(REFUSED);
  });

  describe('at an older schema', () => {
    /** Makes only that table, so that migrate has to make all others. */
    async function older(database: Store): Promise<void> {
      await database.command(
        'CREATE TABLE indexed_program (program String) ENGINE = ReplacingMergeTree ORDER BY program',
      );
      await database.insert('indexed_program', [{ program: THEIRS }]);
    }
    const tablesOf = async (database: Store) =>
      (
        await database.query<{ name: string }>(
          'SELECT name FROM system.tables WHERE database = currentDatabase()',
        )
      ).map(({ name }) => name);

    test('npm run migrate leaves the database unchanged, and migrates it only if PROGRAM_ID is not set', async () => {
      const home = await emptyDatabase();
      onTestFinished(() => home.close());
      await older(home);
      expect(await run('start/migrate.ts', { CLICKHOUSE_URL: urlOf(home) })).toEqual(REFUSED);
      expect(await tablesOf(home)).toEqual(['indexed_program']);
      // Postgres does not answer.
      const told = await run('start/migrate.ts', { CLICKHOUSE_URL: urlOf(home), PROGRAM_ID: '' });
      expect(told.last).toContain('POSTGRES_URL');
      expect(await tablesOf(home)).toContain('policies');
    });

    test('npm run migrate also leaves a serving database that a replay made, and its home, unchanged', async () => {
      const home = await emptyDatabase();
      onTestFinished(() => home.close());
      await home.command(
        'CREATE TABLE serving (id UInt8, version UInt64, database String) ENGINE = ReplacingMergeTree ORDER BY id',
      );
      const database = replayDatabase(home.database, 1);
      await home.insert('serving', [{ version: '1', database }]);
      const serving = await openDatabase(urlOf(home), database, null);
      onTestFinished(() => serving.close());
      await older(serving);
      expect(await run('start/migrate.ts', { CLICKHOUSE_URL: urlOf(home) })).toEqual(REFUSED);
      expect(await tablesOf(serving)).toEqual(['indexed_program']);
      expect(await tablesOf(home)).toEqual(['serving']);
    });
  });

  describe.skipIf(missing !== null)(`and its log${missing === null ? '' : ` (${missing})`}`, () => {
    let KAFKA_BROKERS: string;
    beforeAll(async () => {
      KAFKA_BROKERS = (await sharedBrokers()).join(',');
      const client = await clientOf(THEIRS);
      await ensureTopics(client, { prefix, partitions: 1, replication: null, retentionMs: '-1' });
      await client.close();
    });

    test.each(['ingest', 'backfill', 'replay'])('npm run %s refuses the database', async (command) => {
      expect(await run(`ingest/commands/${command}.ts`, { KAFKA_BROKERS })).toEqual(REFUSED);
    });
  });
});

describe.skipIf(missing !== null)(
  `with a log of another program and an empty database${missing === null ? '' : ` (${missing})`}`,
  () => {
    const KAFKA_TOPIC_PREFIX = `${prefix}-log`;
    let client: KafkaClient;
    let empty: Store;
    beforeAll(async () => {
      empty = await freshDatabase();
      client = await clientOf(THEIRS);
      const settings = { prefix: KAFKA_TOPIC_PREFIX, partitions: 1, replication: null, retentionMs: '-1' };
      await ensureTopics(client, settings);
      const writer = createKafkaWriter(client, KAFKA_TOPIC_PREFIX);
      await writer.append([gapRecord(0n, 5n), gapRecord(0n, 0n, true), markerRecord(6n)]);
      await writer.close();
    });
    afterAll(async () => {
      await client.close();
      await empty.close();
    });

    test.each(['materialise', 'ingest', 'poll', 'backfill', 'replay'])(
      'npm run %s exits with 1, names the program of the log, and writes nothing to log or database',
      async (command) => {
        const KAFKA_BROKERS = (await sharedBrokers()).join(',');
        const own = { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, CLICKHOUSE_URL: urlOf(empty) };
        expect(await run(`ingest/commands/${command}.ts`, own)).toEqual({
          code: 1,
          last: expect.stringMatching(
            new RegExp(
              `^the log of KAFKA_TOPIC_PREFIX \\S+ is of the program ${THEIRS}, and PROGRAM_ID is ${OURS}: set`,
            ),
          ),
        });
        for (const table of ['applied', 'gaps', 'log_partitions'])
          expect(await empty.query(`SELECT * FROM ${table}`)).toEqual([]);
        expect(await client.offsets(topicName(KAFKA_TOPIC_PREFIX, 'transactions'))).toEqual([
          { partition: 0, low: 0n, high: 3n },
        ]);
      },
    );
  },
);
