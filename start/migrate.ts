import '../runtime/process/node-version.ts';
import { migratePostgres } from '../api/postgres/migrate.ts';
import { openPool } from '../api/postgres/pool.ts';
import { openServer } from '../clickhouse/client.ts';
import { isOfProgram } from '../clickhouse/queries/progress/indexed-program.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { replicaAdvice } from '../clickhouse/schema/replicas.ts';
import { openServing } from '../clickhouse/serving/serving.ts';
import { openKafka } from '../ingest/log/kafka/open.ts';
import { ensureTopics, retentionMismatches } from '../ingest/log/kafka/topics.ts';
import { type Config, required } from '../runtime/config/config.ts';
import { readFlags } from '../runtime/config/flags.ts';
import { loadConfig } from '../runtime/config/load.ts';
import { isSet } from '../runtime/config/variables.ts';
import { runMain } from '../runtime/process/lifecycle.ts';
import { createLogger } from '../runtime/process/log.ts';
import { notReached } from '../runtime/process/not-reached.ts';

const COMMAND = {
  usage: 'npm run migrate',
  about:
    'Brings ClickHouse (CLICKHOUSE_URL) and Postgres (POSTGRES_URL) to the current schema, and creates the topics of\nthe log where KAFKA_BROKERS is set. Safe to repeat and to run twice at once. Where PROGRAM_ID is set, a database of\nanother program is left as it is.',
  flags: {},
} as const;

await runMain(async () => {
  readFlags(COMMAND, process.argv.slice(2));
  const config = loadConfig();
  const { clickhouseUrl, postgresUrl } = required(config, {
    clickhouseUrl: 'npm start migrates its embedded engine by itself',
    postgresUrl: 'npm start migrates its embedded Postgres by itself',
  });
  const programId = isSet('PROGRAM_ID', process.env) ? config.programId : null;
  const { done, advice } = await migrateClickHouse(clickhouseUrl, config.clickhouseCluster, programId).catch(
    notReached('CLICKHOUSE_URL'),
  );
  say('ClickHouse', done);
  if (advice !== null) process.stdout.write(`ClickHouse: ${advice}\n`);
  say('Postgres', await migrateServer(postgresUrl).catch(notReached('POSTGRES_URL')));
  if (config.kafkaBrokers === null) process.stdout.write('Kafka: KAFKA_BROKERS is not set, no topics\n');
  else await createTopics(config).catch(notReached('KAFKA_BROKERS'));
});

function say(what: string, done: readonly string[]): void {
  process.stdout.write(`${what}: ${done.length === 0 ? 'already current' : `made ${done.join(', ')}`}\n`);
}

async function migrateClickHouse(
  url: string,
  cluster: string | null,
  programId: string | null,
): Promise<{ done: string[]; advice: string | null }> {
  if (programId !== null) await databasesMustBeOfProgram(url, cluster, programId);
  const home = await openServer(url, cluster);
  const done = await migrate(home, cluster);
  await home.close();
  // After a replay another database serves.
  const serving = await openServing(url, cluster);
  try {
    done.push(...(await migrate(serving, cluster)).map((name) => `${name} in ${serving.database}`));
    return { done, advice: cluster === null ? await replicaAdvice(serving).catch(() => null) : null };
  } finally {
    await serving.close();
  }
}

/**
 * Checks both databases, home and the serving one, before either is changed: the process that fills another program's
 * database may run an older version, which writes nothing into tables that it does not know.
 * @throws ConfigError where one of them is of another program.
 */
async function databasesMustBeOfProgram(
  url: string,
  cluster: string | null,
  programId: string,
): Promise<void> {
  for (const open of [openServer, openServing]) {
    const store = await open(url, cluster);
    await isOfProgram(store, programId).finally(store.close);
  }
}

async function migrateServer(url: string): Promise<string[]> {
  const db = openPool(url);
  try {
    return await migratePostgres(db);
  } finally {
    await db.close();
  }
}

async function createTopics(config: Config): Promise<void> {
  const kafka = openKafka(config, createLogger(config.logLevel, 'migrate'));
  try {
    const settings = {
      prefix: config.kafkaTopicPrefix,
      partitions: config.kafkaPartitions,
      replication: config.kafkaReplication,
      retentionMs: config.kafkaRetentionMs,
    };
    say('Kafka', await ensureTopics(kafka, settings));
    const otherwise = await retentionMismatches(kafka, settings).catch(() => []);
    for (const sentence of otherwise) process.stdout.write(`Kafka: ${sentence}\n`);
  } finally {
    await kafka.close();
  }
}
