import { setTimeout } from 'node:timers/promises';
import { ConfigError, messageOf, RetryableError } from '../../../runtime/errors.ts';
import { TOPICS, type Topic } from '../port.ts';
import type { KafkaClient } from './cluster.ts';

const LEADERS_WITHIN_MS = 30_000;

/** The name that a topic of the log has in the cluster. */
export const topicName = (prefix: string, topic: Topic): string => `${prefix}-${topic}`;

/** The topic of the log that has this name in the cluster; null for a topic that is not the log's. */
export function topicOf(prefix: string, name: string): Topic | null {
  return TOPICS.find((topic) => topicName(prefix, topic) === name) ?? null;
}

/** An assignment by the cluster's names of topics, as one by topics of the log. */
export function assignmentByTopic(
  prefix: string,
  assignment: ReadonlyMap<string, readonly number[]>,
): Map<Topic, readonly number[]> {
  return new Map(
    [...assignment].flatMap(([name, partitions]) => {
      const topic = topicOf(prefix, name);
      return topic === null ? [] : [[topic, partitions] as const];
    }),
  );
}

/** The offset that the next record gets, by partition of a topic of that name. */
export async function endsOf(client: KafkaClient, name: string): Promise<Map<number, bigint>> {
  return new Map((await client.offsets(name)).map(({ partition, high }) => [partition, high]));
}

/** The consumer group of the processes that fill a database; each database has a group of its own. */
export const materialiserGroup = (prefix: string, database: string): string =>
  `${prefix}-materialise-${database}`;

export interface TopicSettings {
  prefix: string;
  partitions: number;
  /** Null: three, or as many as there are brokers where these are fewer. */
  replication: number | null;
  /** Milliseconds; -1 keeps everything, and the log is the history. */
  retentionMs: string;
}

const RETENTION = 'retention.ms';

/** The settings of a topic that decide what brokers keep of it. */
const keeping = ({ retentionMs }: Pick<TopicSettings, 'retentionMs'>) => ({
  'cleanup.policy': 'delete',
  [RETENTION]: retentionMs,
  'retention.bytes': '-1',
});

/**
 * Creates the topics that do not exist; existing ones stay as they are.
 * @returns the cluster's names of the new ones
 */
export async function ensureTopics(client: KafkaClient, settings: TopicSettings): Promise<string[]> {
  const names = TOPICS.map((topic) => topicName(settings.prefix, topic));
  const there = await client.partitionCounts(names);
  const missing = names.filter((name) => !there.has(name));
  if (missing.length === 0) return [];
  const replication = settings.replication ?? Math.min(3, await client.brokerCount());
  await client
    .createTopics(
      missing.map((topic) => ({
        topic,
        partitions: settings.partitions,
        replication,
        config: {
          ...keeping(settings),
          'min.insync.replicas': String(replication >= 3 ? 2 : 1),
        },
      })),
    )
    .catch(notMade(settings.partitions, replication));
  await leadersAnswer(client, missing);
  return missing;
}

/**
 * A sentence for each setting by which existing topics are kept otherwise: somebody else made them, or with another
 * KAFKA_RETENTION_MS. Nothing is said of a topic whose settings this login may not read.
 */
export async function retentionMismatches(
  client: Pick<KafkaClient, 'partitionCounts' | 'topicConfig'>,
  settings: Pick<TopicSettings, 'prefix' | 'retentionMs'>,
): Promise<string[]> {
  const wanted = Object.entries(keeping(settings));
  const names = TOPICS.map((topic) => topicName(settings.prefix, topic));
  const there = await client.partitionCounts(names);
  const others = new Map<string, string[]>();
  for (const topic of names.filter((name) => there.has(name))) {
    const config = await client
      .topicConfig(
        topic,
        wanted.map(([name]) => name),
      )
      .catch(() => new Map<string, string>());
    for (const [name, value] of wanted) {
      const found = config.get(name) ?? value;
      if (found === value) continue;
      const how = `${name} is ${found}, not ${value} as ${name === RETENTION ? 'KAFKA_RETENTION_MS has it' : 'npm run migrate makes it'}`;
      others.set(how, [...(others.get(how) ?? []), topic]);
    }
  }
  return [...others].map(
    ([how, topics]) =>
      `${topics.join(', ')}: ${how}. Topics that are there are left as they are: set it there`,
  );
}

/** kafkajs has the reason for each topic that was refused in `errors`. @throws ConfigError with these reasons */
const notMade =
  (partitions: number, replication: number) =>
  (error: unknown): never => {
    const { errors } = (error ?? {}) as { errors?: unknown };
    if (!Array.isArray(errors)) throw error;
    const words = [...new Set(errors.map(messageOf))].join(', ');
    throw new ConfigError(
      `the brokers make no topics with KAFKA_REPLICATION ${replication} and KAFKA_PARTITIONS ${partitions} (${words})`,
      { cause: error },
    );
  };

/** A broker learns of a new topic after the controller has made it: waits until every partition's leader answers. */
async function leadersAnswer(client: KafkaClient, topics: readonly string[]): Promise<void> {
  const deadline = Date.now() + LEADERS_WITHIN_MS;
  for (;;) {
    try {
      for (const topic of topics) await client.offsets(topic);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await setTimeout(100);
    }
  }
}

/** Partitions of each topic of the log. @throws RetryableError where one is missing */
export async function partitionsOf(
  client: Pick<KafkaClient, 'partitionCounts'>,
  prefix: string,
): Promise<Record<Topic, number>> {
  const counts = await client.partitionCounts(TOPICS.map((topic) => topicName(prefix, topic)));
  const entries = TOPICS.map((topic) => {
    const count = counts.get(topicName(prefix, topic));
    if (count === undefined) {
      throw new RetryableError(`Kafka has no topic ${topicName(prefix, topic)}: run npm run migrate first`);
    }
    return [topic, count] as const;
  });
  return Object.fromEntries(entries) as Record<Topic, number>;
}
