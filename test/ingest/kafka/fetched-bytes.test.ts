import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient, WireBatch } from '../../../ingest/log/kafka/cluster.ts';
import { ensureTopics, topicName } from '../../../ingest/log/kafka/topics.ts';
import { createKafkaWriter } from '../../../ingest/log/kafka/writer.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { transactionRecord } from '../support/records.ts';

const missing = brokerMissing();
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const COUNT = 160;
/** As much data as a transaction's inner calls can have; compressed, less than a kilobyte. */
const LARGE = new Uint8Array(646_000).fill(7);

describe.skipIf(missing !== null)(`a Kafka fetch${missing === null ? '' : ` (${missing})`}`, () => {
  let client: KafkaClient;
  beforeAll(async () => {
    client = createKafkaClient(
      { brokers: await sharedBrokers(), tls: false, sasl: null, clientId: 'test' },
      logger,
    );
  });
  afterAll(() => client.close());

  test('unpacks about 64 MB of highly compressed records at most, and the next ones bring the rest in order', async () => {
    const prefix = `test-${process.pid}-${Date.now()}`;
    await ensureTopics(client, { prefix, partitions: 2, replication: null, retentionMs: '-1' });
    const writer = createKafkaWriter(client, prefix);
    const records = Array.from({ length: COUNT }, (_, name) => transactionRecord(1n, name));
    await writer.append(records.map((record) => ({ ...record, payload: LARGE })));
    await writer.close();

    /** Offsets by partition: those that were not committed when the group lost its member are delivered again. */
    const offsets = new Map<number, Set<bigint>>();
    /** Bytes of each fetch; the next one begins only once all of the last one is applied. */
    const fetches: number[] = [];
    let open = 0;
    const onBatch = async ({ partition, messages, commit, advancePast }: WireBatch) => {
      if (open === 0) fetches.push(0);
      open += 1;
      const bytes = messages.reduce((sum, { value }) => sum + value.length, 0);
      fetches.push((fetches.pop() ?? 0) + bytes);
      const places = offsets.get(partition) ?? new Set();
      offsets.set(partition, places);
      for (const { offset } of messages) places.add(offset);
      // The other batches of the fetch are delivered in this turn.
      await new Promise(setImmediate);
      open -= 1;
      const last = messages.at(-1)?.offset ?? 0n;
      // Refused where the group has lost this member, which then goes on from its last commit.
      await commit(last + 1n);
      advancePast(last);
    };
    const consumer = await client.consume({
      group: `${prefix}-one`,
      topics: [topicName(prefix, 'transactions')],
      onBatch,
      onAssigned: () => {},
      onRevoked: () => {},
      onCrash: () => {},
    });
    const read = () => [...offsets.values()].reduce((sum, places) => sum + places.size, 0);
    await awaited(() => expect(read()).toBe(COUNT));
    await consumer.stop();
    expect(offsets.size).toBe(2);
    for (const places of offsets.values()) {
      const inOrder = [...places];
      expect(inOrder).toEqual(inOrder.map((_, at) => BigInt(at)));
    }
    // The batch that reaches the limit still comes whole.
    expect(Math.max(...fetches)).toBeLessThan(66 * 1024 * 1024);
  });
});
