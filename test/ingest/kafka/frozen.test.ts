import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createKafkaClient } from '../../../ingest/kafka/client.ts';
import { readLogPosition } from '../../../ingest/kafka/position.ts';
import { createKafkaReader } from '../../../ingest/kafka/reader.ts';
import { ensureTopics } from '../../../ingest/kafka/topics.ts';
import type { KafkaClient } from '../../../ingest/kafka/wire.ts';
import { createKafkaWriter } from '../../../ingest/kafka/writer.ts';
import { createLogger } from '../../../runtime/log.ts';
import { brokerMissing, type Cluster, startKafka } from '../../support/kafka.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const missing =
  brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'freezes its own brokers');
const SEED = process.env.SEED ?? 'kafka-1';
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');

describe.skipIf(missing !== null)(
  `the stream into three brokers (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    let cluster: Cluster;
    let client: KafkaClient;
    let stage: StreamStage;
    let prefix = '';

    beforeAll(async () => {
      cluster = await startKafka(3);
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

    test('loses nothing while a broker is frozen, its partitions move to the others, and it comes back', async () => {
      await open();
      start();
      const last = () => stage.model.marked.get('transactions/0') ?? 0n;
      await stage.liveUntil('it streams', () => last() > 0n);
      await expectWhole();
      for (const frozen of cluster.nodes) {
        const before = stage.chain.tip().slot;
        frozen.signal('SIGSTOP');
        const partitions = () => [...stage.model.marked.values()];
        try {
          await stage.liveUntil('it goes on without', () => partitions().every((slot) => slot > before));
        } finally {
          frozen.signal('SIGCONT');
        }
      }
      await vi.waitFor(expectWhole, { timeout: 60_000, interval: 500 });
    }, 400_000);
  },
);
