import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import kafkajs from 'kafkajs';
import type { Logger } from '../../runtime/log.ts';
import type { ConsumeOptions, KafkaClient, KafkaSettings, WireConsumer, WireProducer } from './wire.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

const compress = promisify(zlib.zstdCompress);
const decompress = promisify(zlib.zstdDecompress);
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: (encoder: { buffer: Buffer }) => compress(encoder.buffer),
  decompress: (buffer: Buffer) => decompress(buffer),
});

const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };
/** Longer, and stopping takes 5 s; shorter, and an idle consumer is busy asking. */
const LONGEST_FETCH_MS = 200;
const LEADERS_WITHIN_MS = 30_000;
/** A member that is silent for this long loses its partitions; one that was killed holds them up as long. */
const SESSION_MS = 12_000;
const PARTITIONS_AT_ONCE = 8;

/** A client of a Kafka cluster. Nothing is connected before it is used. */
export function createKafkaClient(settings: KafkaSettings, logger: Logger): KafkaClient {
  const kafka = new Kafka({
    clientId: settings.clientId,
    brokers: settings.brokers,
    ssl: settings.tls,
    ...(settings.sasl === null ? {} : { sasl: settings.sasl as kafkajs.SASLOptions }),
    connectionTimeout: 5_000,
    requestTimeout: 10_000,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      const { message, timestamp: _, logger: __, ...details } = entry.log;
      logger.debug({ kafka: entry.namespace, ...details }, message);
    },
  });
  let connected: Promise<kafkajs.Admin> | null = null;
  const admin = (): Promise<kafkajs.Admin> => {
    connected ??= (async () => {
      const fresh = kafka.admin();
      try {
        await fresh.connect();
      } catch (error) {
        connected = null;
        throw error;
      }
      return fresh;
    })();
    return connected;
  };
  return {
    brokerCount: async () => (await (await admin()).describeCluster()).brokers.length,
    partitionCounts: async (topics) => {
      const there = new Set(await (await admin()).listTopics());
      const known = topics.filter((topic) => there.has(topic));
      if (known.length === 0) return new Map();
      const metadata = await (await admin()).fetchTopicMetadata({ topics: known });
      return new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
    },
    createTopics: async (topics) => {
      await (await admin()).createTopics({
        // It takes a topic that some broker has not heard of yet for a failure.
        waitForLeaders: false,
        topics: topics.map(({ topic, partitions, replication, config }) => ({
          topic,
          numPartitions: partitions,
          replicationFactor: replication,
          configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
        })),
      });
      await leadersAnswer(
        await admin(),
        topics.map(({ topic }) => topic),
      );
    },
    offsets: async (topic) =>
      (await (await admin()).fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
        partition,
        low: BigInt(low),
        high: BigInt(high),
      })),
    groupOffsets: async (groupId, topic) => {
      const [found] = await (await admin()).fetchOffsets({ groupId, topics: [topic] });
      return new Map(
        (found?.partitions ?? []).map(({ partition, offset }) => [
          partition,
          BigInt(offset) < 0n ? null : BigInt(offset),
        ]),
      );
    },
    deleteGroup: async (group) => void (await (await admin()).deleteGroups([group])),
    producer: () => openProducer(kafka),
    consume: (options) => openConsumer(kafka, options),
    close: async () => {
      const open = await connected?.catch(() => null);
      connected = null;
      await open?.disconnect();
    },
  };
}

/** A broker learns of a new topic after the controller has made it: waits until every partition's leader answers. */
async function leadersAnswer(admin: kafkajs.Admin, topics: readonly string[]): Promise<void> {
  const deadline = Date.now() + LEADERS_WITHIN_MS;
  for (;;) {
    try {
      for (const topic of topics) await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(100);
    }
  }
}

async function openProducer(kafka: kafkajs.Kafka): Promise<WireProducer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    // The fewest it takes: who sends begins again with another producer.
    retry: { ...RETRY, retries: 1 },
    // Every message names its partition.
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  await producer.connect();
  return {
    send: async (messages) => {
      const byTopic = new Map<string, kafkajs.Message[]>();
      for (const { topic, partition, key, value } of messages) {
        const message = { partition, key: key === null ? null : Buffer.from(key), value: value as Buffer };
        const list = byTopic.get(topic);
        if (list === undefined) byTopic.set(topic, [message]);
        else list.push(message);
      }
      const answers = await producer.sendBatch({
        acks: -1,
        compression: CompressionTypes.ZSTD,
        topicMessages: [...byTopic].map(([topic, list]) => ({ topic, messages: list })),
      });
      // Its retry leaves out a partition that has moved to a broker which answered before, and says that all was
      // sent (tulios/kafkajs issue 1303).
      const acknowledged = new Set(answers.map(({ topicName, partition }) => `${topicName}/${partition}`));
      const silent = messages.find(({ topic, partition }) => !acknowledged.has(`${topic}/${partition}`));
      if (silent !== undefined) throw new Error(`${silent.topic}/${silent.partition} was not acknowledged`);
    },
    close: () => producer.disconnect(),
  };
}

async function openConsumer(kafka: kafkajs.Kafka, options: ConsumeOptions): Promise<WireConsumer> {
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: 3_000,
    maxWaitTimeInMs: LONGEST_FETCH_MS,
    maxBytesPerPartition: 4 * 1024 * 1024,
    maxBytes: 32 * 1024 * 1024,
    allowAutoTopicCreation: false,
    retry: { ...RETRY, restartOnFailure: async () => true },
  });
  const { GROUP_JOIN, REBALANCING, CRASH } = consumer.events;
  consumer.on(GROUP_JOIN, ({ payload }) =>
    options.onAssigned(new Map(Object.entries(payload.memberAssignment))),
  );
  consumer.on(REBALANCING, () => options.onRevoked());
  consumer.on(CRASH, ({ payload }) => {
    options.onRevoked();
    if (!payload.restart) options.onCrash(payload.error);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...options.topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: ({ batch, heartbeat, commitOffsetsIfNecessary, resolveOffset, isRunning, isStale }) => {
        const { topic, partition } = batch;
        return options.onBatch({
          topic,
          partition,
          messages: batch.messages.map(({ offset, value }) => ({
            offset: BigInt(offset),
            value: value ?? new Uint8Array(0),
          })),
          heartbeat,
          passed: (offset) => resolveOffset(offset.toString()),
          commit: async (next) => {
            const partitions = [{ partition, offset: next.toString() }];
            await commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
          },
          running: () => isRunning() && !isStale(),
        });
      },
    });
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw error;
  }
  return {
    seek: (topic, partition, offset) => consumer.seek({ topic, partition, offset: offset.toString() }),
    stop: () => consumer.disconnect(),
  };
}
