import kafkajs from 'kafkajs';
import { byTopic } from '../append-rounds.ts';
import type { Appended, WireMessage, WireProducer } from '../cluster.ts';
import { createProgramHeaders } from '../log-program.ts';
import { RETRY } from './retry.ts';

const { CompressionTypes } = kafkajs;

/** Less than a request's timeout: a leader with a silent follower then says so, and does not seem silent itself. */
const ACKNOWLEDGED_WITHIN_MS = 8_000;
const MOST_SENDS = 3;

/** @param program that the sent records name; null: none */
export async function openProducer(
  kafka: kafkajs.Kafka,
  program: Uint8Array | null,
  onTimeout: (event: kafkajs.RequestTimeoutEvent) => void,
): Promise<WireProducer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    retry: RETRY,
    // Every message names its partition.
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  producer.on(producer.events.REQUEST_TIMEOUT, onTimeout);
  try {
    await producer.connect();
  } catch (error) {
    await producer.disconnect().catch(() => {});
    throw error;
  }
  return {
    send: async (messages) => {
      let unsent: readonly WireMessage[] = messages;
      const appended: Appended[] = [];
      for (let tries = 0; tries < MOST_SENDS; tries += 1) {
        appended.push(...(await sendOnce(producer, unsent, program)));
        const acknowledged = new Set(appended.map(({ topic, partition }) => `${topic}/${partition}`));
        // A retry inside kafkajs leaves out a partition that has moved to a broker which answered already, and reports
        // all as sent (tulios/kafkajs issue 1303). Sent again, the messages have the same sequence numbers.
        unsent = unsent.filter(({ topic, partition }) => !acknowledged.has(`${topic}/${partition}`));
        if (unsent.length === 0) return appended;
      }
      throw new Error(`${unsent[0]?.topic}/${unsent[0]?.partition} was not acknowledged`);
    },
    close: () => producer.disconnect(),
  };
}

/** Sends the messages once. @returns the partitions that acknowledged theirs, with the first offset of each */
async function sendOnce(
  producer: kafkajs.Producer,
  messages: readonly WireMessage[],
  program: Uint8Array | null,
): Promise<Appended[]> {
  const answers = await producer.sendBatch({
    acks: -1,
    timeout: ACKNOWLEDGED_WITHIN_MS,
    compression: CompressionTypes.ZSTD,
    topicMessages: byTopic(messages).map(([topic, list]) => {
      const headersFor = createProgramHeaders(program);
      return {
        topic,
        messages: list.map(({ partition, key, value }) => ({
          ...{ partition, value: value as Buffer },
          key: key === null ? null : Buffer.from(key),
          ...headersFor(partition),
        })),
      };
    }),
  });
  return answers.map(({ topicName: topic, partition, baseOffset = '-1' }) => ({
    topic,
    partition,
    offset: BigInt(baseOffset),
  }));
}
