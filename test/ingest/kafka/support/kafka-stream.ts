import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createKafkaClient } from '../../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../../ingest/log/kafka/cluster.ts';
import { readLogPosition } from '../../../../ingest/log/kafka/position.ts';
import { createKafkaReader } from '../../../../ingest/log/kafka/reader.ts';
import { ensureTopics } from '../../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../../ingest/log/kafka/writer.ts';
import type { LogPosition } from '../../../../ingest/log/port.ts';
import { createLogger } from '../../../../runtime/process/log.ts';
import type { Cluster } from '../../../support/kafka.ts';
import { ownBrokers } from '../../../support/servers-of-run.ts';
import { ledgerTransactions, wrongStates } from '../../support/ledger-facts.ts';
import { openStreamStage, type Running, type StreamStage } from '../../support/stream-stage.ts';

/** The stream of a local chain into brokers that a test may harm, and a model of what the log holds. */
export interface KafkaStream {
  cluster(): Cluster;
  stage(): StreamStage;
  /** Makes topics and a chain of their own; what was opened is closed after the test. */
  open(): Promise<void>;
  start(): Running;
  position(): Promise<LogPosition | null>;
  /** Every transaction of the ledger is in the log, and the newest state of every account. */
  expectWhole(): Promise<void>;
}

const nothingApplied = async () => new Map();

export function useKafkaStream(seed: string, brokers: number): KafkaStream {
  const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
  let cluster: Cluster;
  let client: KafkaClient;
  let stage: StreamStage;
  let prefix = '';

  beforeAll(async () => {
    cluster = await ownBrokers(brokers);
    const settings = { brokers: cluster.brokers, tls: false, sasl: null, clientId: 'test' };
    client = createKafkaClient(settings, logger);
  });
  afterEach(() => stage.close());
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const position = () => readLogPosition(client, prefix, nothingApplied);
  return {
    cluster: () => cluster,
    stage: () => stage,
    position,
    open: async () => {
      prefix = `stream-${Date.now()}`;
      await ensureTopics(client, { prefix, partitions: 3, replication: null, retentionMs: '-1' });
      stage = await openStreamStage({ seed, policies: 10, retentionSlots: 5_000, partitions: 3 });
    },
    start: () => {
      const writer = createKafkaWriter(client, prefix);
      const reader = createKafkaReader(client, { prefix, group: `${prefix}-model`, logger });
      return stage.start({
        log: { append: writer.append, close: writer.close, run: reader.run },
        position,
      });
    },
    expectWhole: async () => {
      const { chain, model } = stage;
      await stage.settled();
      const lost = ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
      expect(lost).toEqual([]);
      await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
    },
  };
}
