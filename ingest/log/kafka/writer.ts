import { ConfigError } from '../../../runtime/errors.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { HISTORY_TOPICS, type LogWriter, type Topic } from '../port.ts';
import { planRounds } from './append-rounds.ts';
import type { KafkaClient, WireMessage, WireProducer } from './cluster.ts';
import { createLogEnds } from './log-ends.ts';
import { partitionsOf, topicName } from './topics.ts';

/**
 * The log as a Kafka cluster. Appends go out one after the other, in rounds that are acknowledged by all in-sync
 * replicas. A failed append may have sent some records; appended again, these are there twice, which changes nothing
 * for readers.
 * @param onLost called when the log has lost its end, in place of a rejection: the append that finds it never resolves
 */
export function createKafkaWriter(
  client: Pick<KafkaClient, 'partitionCounts' | 'producer' | 'offsets'>,
  prefix: string,
  onLost: ((error: ConfigError) => void) | null = null,
): LogWriter {
  const ends = createLogEnds(client);
  // Nothing is summed by the offsets of readings and dead letters: a writer that has lost some of those goes on.
  const counted = new Set(HISTORY_TOPICS.map((topic) => topicName(prefix, topic)));
  let partitions: Record<Topic, number> | null = null;
  let producer: WireProducer | null = null;
  let last: Promise<void> = Promise.resolve();

  const send = async (records: readonly LogRecord[]) => {
    partitions ??= await partitionsOf(client, prefix);
    for (const round of planRounds(records, partitions)) {
      if (producer === null) {
        // Whatever broke the last producer may have cost the log its end.
        await ends.assertNotTruncated();
        producer = await client.producer();
      }
      const messages = round.map((message) => ({ ...message, topic: topicName(prefix, message.topic) }));
      for (const { topic, partition, offset } of await producer.send(messages))
        if (counted.has(topic)) ends.appended(topic, partition, offset, countOf(messages, topic, partition));
    }
  };

  const sendOrStartAnew = async (records: readonly LogRecord[]) => {
    try {
      await send(records);
    } catch (error) {
      // The producer's sequence numbers may be off after a failure: a new one begins with its own.
      const broken = producer;
      producer = null;
      void broken?.close().catch(() => {});
      if (!(error instanceof ConfigError) || onLost === null) throw error;
      onLost(error);
      await new Promise<never>(() => {});
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

const countOf = (messages: readonly WireMessage[], topic: string, partition: number): number =>
  messages.filter((one) => one.topic === topic && one.partition === partition).length;
