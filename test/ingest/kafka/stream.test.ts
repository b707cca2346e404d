import { describe, expect, test } from 'vitest';
import { awaited } from '../../support/awaited.ts';
import { type Broker, brokerMissing } from '../../support/kafka.ts';
import { useKafkaStream } from './support/kafka-stream.ts';

const missing = brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'kills its own broker');
const SEED = process.env.SEED ?? 'kafka-1';

describe.skipIf(missing !== null)(
  `the stream into Kafka (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    const { cluster, stage, open, start, position, expectWhole } = useKafkaStream(SEED, 1);

    test('has every transaction and newest state in the log, and a restart continues after the last markers', async () => {
      await open();
      await stage().live(30);
      const first = start();
      await stage().liveUntil('it streams', () => stage().model.markers.accounts.length > 0);
      await expectWhole();
      await first.stop();
      const end = (await position())?.slot;
      await stage().live(30);
      const { events } = start();
      await stage().live(10);
      await expectWhole();
      const released = events.flatMap((event) => (event.type === 'released' ? [event.slot] : []));
      expect(released[0]).toBeGreaterThan(end as bigint);
      expect(stage().model.gaps.size).toBe(1);
    });

    test('loses nothing when the broker is killed and restarted', async () => {
      await open();
      start();
      await stage().liveUntil('it streams', () => stage().model.markers.accounts.length > 0);
      const [broker] = cluster().nodes as [Broker];
      broker.signal('SIGKILL');
      await stage().live(40);
      await broker.restart();
      await stage().live(10);
      await awaited(expectWhole, 500);
    });
  },
);
