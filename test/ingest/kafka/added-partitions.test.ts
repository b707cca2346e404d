import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openServer, type Store } from '../../../clickhouse/client.ts';
import { declarePartitions } from '../../../clickhouse/queries/progress/log-partitions.ts';
import { migrate } from '../../../clickhouse/schema/migrate.ts';
import { unfinishedReplay } from '../../../clickhouse/serving/replays.ts';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { createKafkaReader } from '../../../ingest/log/kafka/reader.ts';
import { ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { freshDatabaseUrl } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { startCommand } from '../support/command-child.ts';
import { markerRecord } from '../support/records.ts';

const missing = brokerMissing();
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const [BEFORE, NOW] = [2, 3];
const NOBODY = 'http://127.0.0.1:1';

describe.skipIf(missing !== null)(
  `a log with more partitions than its database was filled from${missing === null ? '' : ` (${missing})`}`,
  () => {
    const prefix = `added-${process.pid}-${Date.now()}`;
    const clickhouseUrl = freshDatabaseUrl();
    const dataDir = mkdtempSync(path.join(tmpdir(), 'added-'));
    let brokers: string[];
    let client: KafkaClient;
    let store: Store;

    beforeAll(async () => {
      brokers = await sharedBrokers();
      client = createKafkaClient({ brokers, tls: false, sasl: null, clientId: 'test' }, logger);
      await ensureTopics(client, { prefix, partitions: NOW, replication: null, retentionMs: '-1' });
      store = await openServer(clickhouseUrl, null);
      await migrate(store, null);
      await declarePartitions(store, { accounts: BEFORE, transactions: BEFORE });
    });
    afterAll(async () => {
      await client.close();
      await store.command(`DROP DATABASE ${store.database} SYNC`);
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    });

    for (const command of ['ingest', 'backfill'] as const) {
      test(`npm run ${command} exits with an error that says what to do, and appends nothing`, async () => {
        const { child, ended } = startCommand(command, {
          ...{ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix, CLICKHOUSE_URL: clickhouseUrl },
          ...{ SOLANA_RPC_URL: NOBODY, YELLOWSTONE_ENDPOINT: NOBODY, DATA_DIR: dataDir },
        });
        onTestFinished(() => void child.kill('SIGKILL'));
        const { code, err } = await ended;
        expect(err).toMatch(
          /topic of accounts has 3 partitions, and the database .+ was filled from 2: .*KAFKA_TOPIC_PREFIX/,
        );
        expect(code).toBe(1);
        expect((await client.offsets(topicName(prefix, 'transactions'))).map(({ high }) => high)).toEqual(
          Array.from({ length: NOW }, () => 0n),
        );
      });
    }

    for (const args of [[], ['--from', '0'], ['--dead-letters']]) {
      test(`npm run replay with "${args.join(' ')}" exits with an error that says what to do, and begins no replay`, async () => {
        const { child, ended } = startCommand(
          'replay',
          {
            ...{
              KAFKA_BROKERS: brokers.join(','),
              KAFKA_TOPIC_PREFIX: prefix,
              CLICKHOUSE_URL: clickhouseUrl,
            },
            DATA_DIR: dataDir,
          },
          args,
        );
        onTestFinished(() => void child.kill('SIGKILL'));
        const { code, err } = await ended;
        expect(err).toMatch(
          /topic of accounts has 3 partitions, and the database .+ was filled from 2: .*KAFKA_TOPIC_PREFIX/,
        );
        expect(code).toBe(1);
        expect(await unfinishedReplay(store)).toBeNull();
      });
    }

    test('a reader that is assigned an added partition ends with an error that says so, and applies nothing', async () => {
      const writer = createKafkaWriter(client, prefix);
      await writer.append([markerRecord(5n)]);
      await writer.close();
      const stop = new AbortController();
      onTestFinished(() => stop.abort());
      const applied: string[] = [];
      const declared = { accounts: NOW, transactions: BEFORE };
      const running = createKafkaReader(client, { prefix, group: `${prefix}-all`, logger, declared }).run(
        async ({ topic, partition }) => void applied.push(`${topic}/${partition}`),
        stop.signal,
      );
      await expect(running).rejects.toMatchObject({
        name: 'ConfigError',
        message: expect.stringMatching(
          /topic of transactions has a partition 2 .* filled from 2: .*KAFKA_TOPIC/,
        ),
      });
      expect(applied).toEqual([]);
    });
  },
);
