import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { ensureTopics, retentionMismatches, topicName } from '../../../ingest/log/kafka/topics.ts';
import type { Topic } from '../../../ingest/log/port.ts';
import { checksOf } from '../../../ingest/operate/doctor/checks.ts';
import { runChecks } from '../../../ingest/operate/doctor/report.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
import { freshDatabaseUrl } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { freshPostgresUrl, sharedBrokers } from '../../support/servers-of-run.ts';

const missing = brokerMissing();
const MIGRATE = path.resolve(import.meta.dirname, '../../../start/migrate.ts');
const { PATH, NODE_COMPILE_CACHE } = process.env;
const A_WEEK = '604800000';

describe.skipIf(missing !== null)(
  `topics whose retention differs from KAFKA_RETENTION_MS${missing === null ? '' : ` (${missing})`}`,
  () => {
    const logger = createLogger('silent', 'test');
    let brokers: string[];
    let client: KafkaClient;
    let count = 0;
    const freshPrefix = () => {
      count += 1;
      return `kept-${process.pid}-${Date.now()}-${count}`;
    };

    beforeAll(async () => {
      brokers = await sharedBrokers();
      client = createKafkaClient({ brokers, tls: false, sasl: null, clientId: 'test' }, logger);
    });
    afterAll(() => client.close());

    /** Makes topics by hand, as an administrator, and waits until the broker knows them from the controller. */
    async function byHand(prefix: string, configs: Partial<Record<Topic, Record<string, string>>>) {
      const topics = Object.entries(configs).map(([topic, config]) => ({
        topic: topicName(prefix, topic as Topic),
        ...{ partitions: 1, replication: 1, config },
      }));
      await client.createTopics(topics);
      const names = topics.map(({ topic }) => topic);
      await awaited(async () => expect((await client.partitionCounts(names)).size).toBe(names.length));
    }

    test('migrate reports existing topics that differ, and leaves them unchanged', async () => {
      const prefix = freshPrefix();
      await byHand(prefix, {
        accounts: { 'retention.ms': A_WEEK },
        transactions: { 'retention.ms': A_WEEK },
      });
      const env = {
        ...{ PATH, NODE_COMPILE_CACHE, LOG_LEVEL: 'error' },
        ...{ CLICKHOUSE_URL: freshDatabaseUrl(), POSTGRES_URL: await freshPostgresUrl() },
        ...{ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix, KAFKA_PARTITIONS: '1' },
      };
      const migrate = async () => (await promisify(execFile)(process.execPath, [MIGRATE], { env })).stdout;
      const sentence = `Kafka: ${prefix}-accounts, ${prefix}-transactions: retention.ms is ${A_WEEK}, not -1 as KAFKA_RETENTION_MS has it.`;
      const first = await migrate();
      expect(first).toContain(`Kafka: made ${prefix}-readings, ${prefix}-dead-letters\n${sentence}`);
      expect(await migrate()).toContain(`Kafka: already current\n${sentence}`);
    });

    test('doctor notes them after its line about the brokers', async () => {
      const prefix = freshPrefix();
      await byHand(prefix, { accounts: { 'retention.ms': A_WEEK } });
      const env = { KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix };
      const lines: string[] = [];
      const checks = checksOf(readConfig(env));
      const never = new AbortController().signal;
      const failed = await runChecks(checks, (line) => lines.push(line), never, PATIENCE_MS);
      expect(failed).toBe(0);
      const ofKafka = lines.filter((line) => line.includes(' KAFKA_BROKERS '));
      expect(ofKafka).toEqual([
        expect.stringMatching(/^ok /),
        expect.stringMatching(/^note .*does not show all topics of the log/),
        expect.stringMatching(
          /^note .*-accounts: retention\.ms is 604800000, not -1 .* are left as they are: set it there$/,
        ),
      ]);
    });

    test('topics that migrate made with the same setting are not reported, nor are missing topics', async () => {
      const settings = { prefix: freshPrefix(), partitions: 1, replication: null, retentionMs: A_WEEK };
      expect(await retentionMismatches(client, settings)).toEqual([]);
      await ensureTopics(client, settings);
      expect(await retentionMismatches(client, settings)).toEqual([]);
      const [otherwise, ...more] = await retentionMismatches(client, { ...settings, retentionMs: '-1' });
      expect(otherwise).toMatch(/-accounts, .*-dead-letters: retention.ms is 604800000, not -1 /);
      expect(more).toEqual([]);
    });

    test('each setting that cuts the log is reported in a sentence, with the topic that has it', async () => {
      const prefix = freshPrefix();
      await byHand(prefix, {
        accounts: { 'retention.ms': '-1', 'cleanup.policy': 'compact' },
        transactions: { 'retention.ms': '-1', 'retention.bytes': '1000000' },
      });
      const sentences = await retentionMismatches(client, { prefix, retentionMs: '-1' });
      expect(sentences).toEqual([
        expect.stringContaining(`${prefix}-accounts: cleanup.policy is compact, not delete `),
        expect.stringContaining(`${prefix}-transactions: retention.bytes is 1000000, not -1 `),
      ]);
    });

    test('a topic whose settings may not be read is left out of the report', async () => {
      const prefix = freshPrefix();
      await byHand(prefix, { accounts: { 'retention.ms': A_WEEK }, readings: { 'retention.ms': A_WEEK } });
      const topicConfig: KafkaClient['topicConfig'] = async (topic, names) => {
        if (topic === `${prefix}-accounts`) throw new Error('Topic authorization failed');
        return client.topicConfig(topic, names);
      };
      const sentences = await retentionMismatches({ ...client, topicConfig }, { prefix, retentionMs: '-1' });
      expect(sentences).toEqual([expect.stringContaining(`${prefix}-readings: retention.ms is 604800000`)]);
    });
  },
);
