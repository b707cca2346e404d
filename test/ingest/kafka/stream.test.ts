import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKafkaClient } from '../../../ingest/kafka/client.ts';
import { readLogPosition } from '../../../ingest/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/kafka/reader.ts';
import { ensureTopics } from '../../../ingest/kafka/topics.ts';
import type { KafkaClient } from '../../../ingest/kafka/wire.ts';
import { createKafkaWriter } from '../../../ingest/kafka/writer.ts';
import { createLogger } from '../../../runtime/log.ts';
import { type Broker, brokerMissing, type Cluster, startKafka } from '../../support/kafka.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'kills its own broker');
const SEED = process.env.SEED ?? 'kafka-1';
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');

describe.skipIf(missing !== null)(
  `the stream into Kafka (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let client: KafkaClient;
    let stage: StreamStage;
    let prefix = '';

    beforeAll(async () => {
      cluster = await startKafka();
      client = createKafkaClient(
        { brokers: cluster.brokers, tls: false, sasl: null, clientId: 'test' },
        logger,
      );
    });
    afterEach(() => stage.close());
    afterAll(async () => {
      await client.close();
      await cluster.stop();
    });

    async function open(): Promise<void> {
      prefix = `stream-${Date.now()}`;
      await ensureTopics(client, { prefix, partitions: 3, replication: null, retentionMs: '-1' });
      stage = await openStreamStage({ seed: SEED, policies: 10, retentionSlots: 5_000, partitions: 3 });
    }

    function start() {
      const writer = createKafkaWriter(client, prefix);
      const reader = createKafkaReader(client, { prefix, group: `${prefix}-model`, logger });
      return stage.start({
        log: { append: writer.append, close: writer.close, run: reader.run },
        position: () => readLogPosition(client, prefix),
      });
    }

    async function expectWhole(): Promise<void> {
      const { chain, model } = stage;
      await stage.settled();
      expect(ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature))).toEqual(
        [],
      );
      await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
    }

    test('is whole, and a restart goes on from the markers in the log', async () => {
      await open();
      await stage.live(30);
      const first = start();
      await stage.liveUntil('it streams', () => stage.model.markers.accounts.length > 0);
      await expectWhole();
      await first.stop();
      const end = await readLogPosition(client, prefix);
      await stage.live(30);
      const { events } = start();
      await stage.live(10);
      await expectWhole();
      const released = events.flatMap((event) => (event.type === 'released' ? [event.slot] : []));
      expect(released[0]).toBeGreaterThan(end as bigint);
      expect(stage.model.gaps.size).toBe(1);
    });

    test('loses nothing while the broker is killed and comes back', async () => {
      await open();
      start();
      await stage.liveUntil('it streams', () => stage.model.markers.accounts.length > 0);
      const [broker] = cluster.nodes as [Broker];
      broker.signal('SIGKILL');
      await stage.live(40);
      await broker.restart();
      await stage.live(10);
      await vi.waitFor(expectWhole, { timeout: 60_000, interval: 500 });
    });
  },
);
