import kafkajs from 'kafkajs';
import type { Logger } from '../../../runtime/process/log.ts';
import { byTopic } from './append-rounds.ts';
import { type Connections, createConnections } from './broker-connections.ts';
import './kafkajs/stop.ts';
import './kafkajs/zstd.ts';
import type {
  Appended,
  ConsumeOptions,
  KafkaClient,
  KafkaSettings,
  WireConsumer,
  WireMessage,
  WireProducer,
} from './cluster.ts';
import { programIn, sayingProgram } from './log-program.ts';

const { CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs;

const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };
/** Longer, and stopping takes 5 s; shorter, and an idle consumer is busy asking. */
const LONGEST_FETCH_MS = 200;
/** A broker that leaves a request unanswered for this long is gone round. */
const REQUEST_MS = 10_000;
/** Under the time of a request: a leader whose follower is silent says so, and is not taken for silent itself. */
const ACKNOWLEDGED_WITHIN_MS = 8_000;
const MOST_SENDS = 3;
/** A member that is silent for this long loses its partitions; one that was killed holds them up as long. */
const SESSION_MS = 12_000;
const PARTITIONS_AT_ONCE = 8;

/** A client of a Kafka cluster. Nothing is connected before it is used. */
export function createKafkaClient(settings: KafkaSettings, logger: Logger): KafkaClient {
  const connections = createConnections();
  const kafka = new Kafka({
    clientId: settings.clientId,
    brokers: async () => connections.inOrder(settings.brokers),
    socketFactory: connections.connect,
    ssl: settings.tls,
    ...(settings.sasl === null ? {} : { sasl: settings.sasl as kafkajs.SASLOptions }),
    connectionTimeout: 5_000,
    requestTimeout: REQUEST_MS,
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
      fresh.on(fresh.events.REQUEST_TIMEOUT, noting(connections, logger));
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
  const { program = null } = settings;
  return {
    program,
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
    },
    topicConfig: async (topic, names) => {
      const { resources } = await (await admin()).describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: [...names] }],
      });
      const entries = resources.flatMap(({ configEntries }) => configEntries);
      return new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    },
    offsets: async (topic) =>
      (await (await admin()).fetchTopicOffsets(topic)).map(({ partition, low, high }) => ({
        partition,
        low: BigInt(low),
        high: BigInt(high),
      })),
    offsetsAt: async (topic, millis) => {
      const places = await (await admin()).fetchTopicOffsetsByTimestamp(topic, millis);
      return new Map(places.map(({ partition, offset }) => [partition, BigInt(offset)]));
    },
    groupMembers: async (group) => {
      const { groups } = await (await admin()).describeGroups([group]);
      return groups[0]?.members.length ?? 0;
    },
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
    producer: () => openProducer(kafka, connections, logger, program),
    consume: (options) => openConsumer(kafka, connections, logger, options),
    close: async () => {
      const open = await connected?.catch(() => null);
      connected = null;
      await open?.disconnect();
    },
  };
}

const noting =
  (connections: Connections, logger: Logger) =>
  ({ payload: { broker, apiName } }: kafkajs.RequestTimeoutEvent) => {
    logger.warn({ broker, request: apiName }, 'a request to a Kafka broker timed out');
    connections.timedOut(broker);
  };

async function openProducer(
  kafka: kafkajs.Kafka,
  connections: Connections,
  logger: Logger,
  program: Uint8Array | null,
): Promise<WireProducer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    retry: RETRY,
    // Every message names its partition.
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  });
  producer.on(producer.events.REQUEST_TIMEOUT, noting(connections, logger));
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
        // Its retry leaves out a partition that has moved to a broker which answered before, and says that all was
        // sent (tulios/kafkajs issue 1303). The same messages have the same sequence numbers when sent again.
        unsent = unsent.filter(({ topic, partition }) => !acknowledged.has(`${topic}/${partition}`));
        if (unsent.length === 0) return appended;
      }
      throw new Error(`${unsent[0]?.topic}/${unsent[0]?.partition} was not acknowledged`);
    },
    close: () => producer.disconnect(),
  };
}

/** The partitions that have acknowledged their messages, and where. */
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
      const saying = sayingProgram(program);
      return {
        topic,
        messages: list.map(({ partition, key, value }) => ({
          ...{ partition, value: value as Buffer },
          key: key === null ? null : Buffer.from(key),
          ...saying(partition),
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

async function openConsumer(
  kafka: kafkajs.Kafka,
  connections: Connections,
  logger: Logger,
  options: ConsumeOptions,
): Promise<WireConsumer> {
  const consumer = kafka.consumer({
    groupId: options.group,
    sessionTimeout: SESSION_MS,
    heartbeatInterval: 3_000,
    maxWaitTimeInMs: LONGEST_FETCH_MS,
    maxBytesPerPartition: 4 * 1024 * 1024,
    maxBytes: 32 * 1024 * 1024,
    allowAutoTopicCreation: false,
    // Few: a start from the beginning looks up who coordinates the group, a retry does not.
    retry: { ...RETRY, retries: 3, restartOnFailure: async () => true },
  });
  const { GROUP_JOIN, REBALANCING, CRASH, REQUEST_TIMEOUT } = consumer.events;
  consumer.on(REQUEST_TIMEOUT, noting(connections, logger));
  consumer.on(GROUP_JOIN, ({ payload }) =>
    options.onAssigned(new Map(Object.entries(payload.memberAssignment))),
  );
  let begun = false;
  let refusal: Error | null = null;
  consumer.on(REBALANCING, () => options.onRevoked(null));
  consumer.on(CRASH, ({ payload: { error, restart } }) => {
    options.onRevoked(error);
    if (restart) return;
    if (begun) options.onCrash(error);
    else refusal = error;
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
          messages: batch.messages.map(({ offset, value, timestamp, headers }) => ({
            offset: BigInt(offset),
            value: value ?? new Uint8Array(0),
            writtenAt: Number(timestamp),
            program: programIn(headers),
          })),
          heartbeat,
          passed: (offset) => resolveOffset(offset.toString()),
          rewind: (offset) => consumer.seek({ topic, partition, offset: offset.toString() }),
          commit: async (next) => {
            const partitions = [{ partition, offset: next.toString() }];
            await commitOffsetsIfNecessary({ topics: [{ topic, partitions }] });
          },
          running: () => isRunning() && !isStale(),
        });
      },
    });
    // It says nothing of one that was refused, and knows no places to seek any more.
    if (refusal !== null) throw refusal;
    begun = true;
  } catch (error) {
    await consumer.disconnect().catch(() => {});
    throw error;
  }
  return {
    seek: (topic, partition, offset) => consumer.seek({ topic, partition, offset: offset.toString() }),
    stop: () => consumer.disconnect(),
  };
}
