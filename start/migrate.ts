import '../runtime/process/node-version.ts';
import { migratePostgres } from '../api/postgres/migrate.ts';
import { openPool } from '../api/postgres/pool.ts';
import { openServer } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/schema/migrate.ts';
import { openServing } from '../clickhouse/serving/serving.ts';
import { openKafka } from '../ingest/log/kafka/open.ts';
import { ensureTopics } from '../ingest/log/kafka/topics.ts';
import { type Config, required } from '../runtime/config/config.ts';
import { readFlags } from '../runtime/config/flags.ts';
import { loadConfig } from '../runtime/config/load.ts';
import { runMain } from '../runtime/process/lifecycle.ts';
import { createLogger } from '../runtime/process/log.ts';
import { notReached } from '../runtime/process/not-reached.ts';

const COMMAND = {
  usage: 'npm run migrate',
  about:
    'Brings ClickHouse (CLICKHOUSE_URL) and Postgres (POSTGRES_URL) to the current schema, whichever is set, and creates\nthe topics of the log where KAFKA_BROKERS is. Safe to repeat and to run twice at once.',
  flags: {},
} as const;

const BY_ITSELF = 'npm start migrates its embedded engine by itself';

await runMain(async () => {
  readFlags(COMMAND, process.argv.slice(2));
  const config = loadConfig();
  const { clickhouseUrl, clickhouseCluster, postgresUrl } = config;
  if (postgresUrl === null)
    required(clickhouseUrl, 'CLICKHOUSE_URL', `nor is POSTGRES_URL, and ${BY_ITSELF}`);
  if (clickhouseUrl === null) sayUnset('ClickHouse', 'CLICKHOUSE_URL', BY_ITSELF);
  else
    say(
      'ClickHouse',
      await migrateClickHouse(clickhouseUrl, clickhouseCluster).catch(notReached('CLICKHOUSE_URL')),
    );
  if (postgresUrl === null) sayUnset('Postgres', 'POSTGRES_URL', BY_ITSELF);
  else say('Postgres', await migrateServer(postgresUrl).catch(notReached('POSTGRES_URL')));
  if (config.kafkaBrokers === null) sayUnset('Kafka', 'KAFKA_BROKERS', 'no topics');
  else say('Kafka', await createTopics(config).catch(notReached('KAFKA_BROKERS')));
});

function say(what: string, done: readonly string[]): void {
  process.stdout.write(`${what}: ${done.length === 0 ? 'already current' : `made ${done.join(', ')}`}\n`);
}

function sayUnset(what: string, variable: string, instead: string): void {
  process.stdout.write(`${what}: ${variable} is not set, ${instead}\n`);
}

async function migrateClickHouse(url: string, cluster: string | null): Promise<string[]> {
  const home = await openServer(url, cluster);
  const done = await migrate(home, cluster);
  await home.close();
  // After a replay another database serves.
  const serving = await openServing(url, cluster);
  try {
    return [...done, ...(await migrate(serving, cluster)).map((name) => `${name} in ${serving.database}`)];
  } finally {
    await serving.close();
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

async function createTopics(config: Config): Promise<string[]> {
  const kafka = openKafka(config, createLogger(config.logLevel, 'migrate'));
  try {
    return await ensureTopics(kafka, {
      prefix: config.kafkaTopicPrefix,
      partitions: config.kafkaPartitions,
      replication: config.kafkaReplication,
      retentionMs: config.kafkaRetentionMs,
    });
  } finally {
    await kafka.close();
  }
}
