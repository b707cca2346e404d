import { describe, test } from 'vitest';
import { awaited } from '../../support/awaited.ts';
import { brokerMissing } from '../../support/kafka.ts';
import { useKafkaStream } from './support/kafka-stream.ts';

const missing =
  brokerMissing() ?? (process.env.KAFKA_BROKERS === undefined ? null : 'freezes its own brokers');
const SEED = process.env.SEED ?? 'kafka-1';

describe.skipIf(missing !== null)(
  `the stream into three brokers (seed ${SEED})${missing === null ? '' : ` (${missing})`}`,
  () => {
    const { cluster, stage, open, start, expectWhole } = useKafkaStream(SEED, 3);

    test('loses nothing while each broker in turn is frozen and its partitions move to the others', async () => {
      await open();
      start();
      const partitions = () => [...stage().model.marked.values()];
      const last = () => stage().model.marked.get('transactions/0') ?? 0n;
      await stage().liveUntil('it streams', () => last() > 0n);
      await expectWhole();
      for (const frozen of cluster().nodes) {
        const before = stage().chain.tip().slot;
        frozen.signal('SIGSTOP');
        try {
          await stage().liveUntil('it goes on without', () => partitions().every((slot) => slot > before));
        } finally {
          frozen.signal('SIGCONT');
        }
      }
      await awaited(expectWhole, 500);
    });
  },
);
