import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import { ensureTopics } from '../../../ingest/log/kafka/topics.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { deadUrl } from '../../support/answering.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase, urlOf } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { readyOf, startCommand } from '../support/command-child.ts';

const missing = brokerMissing();
const silent = createLogger('silent', 'test');

describe.skipIf(missing !== null)(`a log without topics${missing === null ? '' : ` (${missing})`}`, () => {
  let store: Store;
  const children = new Set<ChildProcess>();
  beforeAll(async () => {
    store = await freshDatabase();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await store.close();
  });

  test.each([
    ['materialise', 'consumer group: looking for the topics'],
    ['poll', 'log: asking of which program the log is'],
  ] as const)('%s is not ready and says so, until they are made', async (name, what) => {
    const brokers = await sharedBrokers();
    const prefix = `not-ready-${name}-${process.pid}-${Date.now()}`;
    const port = await freePort();
    const { child } = startCommand(name, {
      ...{ CLICKHOUSE_URL: urlOf(store), SOLANA_RPC_URL: await deadUrl(), HOST: '127.0.0.1' },
      ...{ KAFKA_BROKERS: String(brokers), KAFKA_TOPIC_PREFIX: prefix, METRICS_PORT: String(port) },
    });
    children.add(child);
    const refused = [`${what}: Kafka has no topic ${prefix}-accounts: run npm run migrate first`];
    await awaited(async () => expect(await readyOf(port)).toEqual({ ready: false, missing: refused }));
    const owner = createKafkaClient({ brokers, tls: false, clientId: 'test', sasl: null }, silent);
    await ensureTopics(owner, { prefix, partitions: 1, replication: null, retentionMs: '-1' });
    await owner.close();
    await awaited(async () => expect(await readyOf(port)).toEqual({ ready: true, missing: [] }));
  });
});
