import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { type AppliedMarker, appliedMarkers } from '../../../clickhouse/queries/progress/stream-store.ts';
import { createKafkaClient } from '../../../ingest/log/kafka/client.ts';
import type { KafkaClient } from '../../../ingest/log/kafka/cluster.ts';
import { readLogPosition } from '../../../ingest/log/kafka/position.ts';
import { topicName } from '../../../ingest/log/kafka/topics.ts';
import { HISTORY_TOPICS, type Topic } from '../../../ingest/log/port.ts';
import { encodeRecord } from '../../../ingest/log/record-codec.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openLog, type SharedLog } from '../../../start/log.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase } from '../../support/database.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { sharedBrokers } from '../../support/servers-of-run.ts';
import { accountRecord, markerRecord } from '../support/records.ts';

const missing = brokerMissing();
const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
const PARTITIONS = 2;

describe.skipIf(missing !== null)(
  `a log that retention has emptied${missing === null ? '' : ` (${missing})`}`,
  () => {
    const prefix = `emptied-${process.pid}-${Date.now()}`;
    let client: KafkaClient;
    let admin: kafkajs.Admin;
    let store: Store;
    let log: SharedLog;

    beforeAll(async () => {
      const brokers = await sharedBrokers();
      client = createKafkaClient({ brokers, tls: false, sasl: null, clientId: 'test' }, logger);
      admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
      await admin.connect();
      store = await freshDatabase();
      const config = readConfig({
        ...{ KAFKA_BROKERS: brokers.join(','), KAFKA_TOPIC_PREFIX: prefix },
        KAFKA_PARTITIONS: String(PARTITIONS),
      });
      log = await openLog(config, store, logger);
    });
    afterAll(async () => {
      await log.close();
      await client.close();
      await admin.disconnect();
      await store.close();
    });

    /** Applies the log until everything up to a slot is. */
    async function applyUpTo(slot: bigint): Promise<void> {
      const stop = new AbortController();
      const running = log.run(createMaterialiser({ store, programId: new Uint8Array(32) }), stop.signal);
      await awaited(async () => expect(await log.applied?.()).toBe(slot));
      stop.abort();
      await running;
    }

    /** Deletes as retention does: all of a partition, or what is before an offset. */
    const drop = async (topic: string, partition: number, offset = '-1') => {
      // The admin client deletes nothing of a topic whose metadata it does not have.
      await admin.fetchTopicOffsets(topic);
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset }] });
    };

    /** Appends to some partitions only. */
    const append = async (to: readonly { topic: Topic; partition: number }[], value: Uint8Array) => {
      const producer = await client.producer();
      await producer.send(
        to.map(({ topic, partition }) => ({ topic: topicName(prefix, topic), partition, key: null, value })),
      );
      await producer.close();
    };

    const places = async () => {
      const all = HISTORY_TOPICS.map(async (topic) =>
        (await client.offsets(topicName(prefix, topic))).map((place) => ({ topic, ...place })),
      );
      return (await Promise.all(all)).flat();
    };

    test('has the position of the last applied markers', async () => {
      await log.append([accountRecord(6n, 1), { ...markerRecord(6n), followed: { slot: 4n, blockTime: 4 } }]);
      await applyUpTo(6n);
      for (const { topic, partition } of await places()) await drop(topicName(prefix, topic), partition);
      for (const { low, high } of await places()) expect(low).toBe(high);
      expect(await log.position()).toEqual({ slot: 6n, followed: 4n });
    });

    test('takes the applied marker for a partition with records but no marker, though all others have a newer one', async () => {
      // One of them has an account beside its marker.
      const [shorter, longer] = (await places())
        .filter(({ topic }) => topic === 'accounts')
        .toSorted((one, other) => Number(one.high - other.high));
      await log.append([markerRecord(7n)]);
      await log.append([accountRecord(8n, 1)]);
      await applyUpTo(7n);
      expect(await log.position()).toEqual({ slot: 7n, followed: 7n });
      expect(shorter?.high).toBeLessThan(longer?.high as bigint);
      await drop(
        topicName(prefix, 'accounts'),
        longer?.partition as number,
        String((longer?.high as bigint) + 1n),
      );
      expect(await log.position()).toEqual({ slot: 7n, followed: 7n });
      // As an append leaves it that was cut off before its marker was in every partition.
      const others = (await places()).filter(
        ({ topic, partition }) => topic !== 'accounts' || partition !== longer?.partition,
      );
      await append(others, encodeRecord(markerRecord(8n)));
      expect(await log.position()).toEqual({ slot: 7n, followed: 7n });
    });

    test('has no position, like a new log, when some lost record of any partition was not applied', async () => {
      await log.append([markerRecord(9n)]);
      await applyUpTo(9n);
      for (const { topic, partition } of await places()) await drop(topicName(prefix, topic), partition);
      const applied = await appliedMarkers(store);
      const positionWith = (known: ReadonlyMap<string, AppliedMarker>) =>
        readLogPosition(client, prefix, async () => known);
      expect(await positionWith(applied)).toEqual({ slot: 9n, followed: 9n });
      expect(applied.size).toBe(2 * PARTITIONS);
      for (const [place, one] of applied) {
        const behind = new Map(applied).set(place, { ...one, next: one.next - 1n });
        expect(await positionWith(behind), place).toBe(null);
        const without = new Map([...applied].filter(([other]) => other !== place));
        expect(await positionWith(without), place).toBe(null);
      }
      expect(await positionWith(new Map())).toBe(null);
    });
  },
);
