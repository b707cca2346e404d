import kafkajs from 'kafkajs';
import type { Logger } from '../../../runtime/process/log.ts';
import { type Connections, createConnections } from './broker-connections.ts';
import type { KafkaClient, KafkaSettings } from './cluster.ts';
import { openConsumer } from './kafkajs/consumer.ts';
import { openProducer } from './kafkajs/producer.ts';
import { RETRY } from './kafkajs/retry.ts';
import './kafkajs/stop.ts';
import './kafkajs/zstd.ts';

const { ConfigResourceTypes, Kafka, logLevel } = kafkajs;

/** A broker that leaves a request unanswered for this long counts as silent, and another is asked. */
const REQUEST_MS = 10_000;

/** A client of a Kafka cluster, which connects when it is first used. */
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
  const onTimeout = noting(connections, logger);
  let connected: Promise<kafkajs.Admin> | null = null;
  const admin = (): Promise<kafkajs.Admin> => {
    connected ??= (async () => {
      const fresh = kafka.admin();
      fresh.on(fresh.events.REQUEST_TIMEOUT, onTimeout);
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
        // Waiting here fails where some broker has not heard of the topic yet.
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
    producer: () => openProducer(kafka, program, onTimeout),
    consume: (options) => openConsumer(kafka, options, onTimeout),
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
