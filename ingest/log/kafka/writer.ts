import type { LogRecord } from '../../../schemas/records.ts';
import type { LogWriter, Topic } from '../port.ts';
import { planRounds } from './append-rounds.ts';
import type { KafkaClient, WireProducer } from './cluster.ts';
import { partitionsOf, topicName } from './topics.ts';

/**
 * The log as a Kafka cluster. Appends go out one after the other, in rounds that are acknowledged by all in-sync
 * replicas. A failed append may have sent a part; appended again, that part is there twice, which readers bear.
 */
export function createKafkaWriter(client: KafkaClient, prefix: string): LogWriter {
  let partitions: Record<Topic, number> | null = null;
  let producer: WireProducer | null = null;
  let last: Promise<void> = Promise.resolve();

  const send = async (records: readonly LogRecord[]) => {
    partitions ??= await partitionsOf(client, prefix);
    for (const round of planRounds(records, partitions)) {
      producer ??= await client.producer();
      await producer.send(round.map((message) => ({ ...message, topic: topicName(prefix, message.topic) })));
    }
  };

  const sendOrStartAnew = async (records: readonly LogRecord[]) => {
    try {
      await send(records);
    } catch (error) {
      // Its sequence numbers may be off after a failure: another producer begins with its own.
      const broken = producer;
      producer = null;
      void broken?.close().catch(() => {});
      throw error;
    }
  };

  return {
    append: (records) => {
      if (records.length === 0) return last;
      const turn = last.then(() => sendOrStartAnew(records));
      last = turn.catch(() => {});
      return turn;
    },
    close: async () => {
      await last;
      await producer?.close();
      producer = null;
    },
  };
}
