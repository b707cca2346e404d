import { randomUUID } from 'node:crypto';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';
import { topicName } from '../../log/kafka/topics.ts';
import { TOPICS } from '../../log/port.ts';

/**
 * What came of reading the log: `late` where it took longer than there is time, `unseen` where not all topics show, `empty`
 * where none has a record, so that nothing was read.
 */
export type LogReading = 'read' | 'late' | 'unseen' | 'empty';

/**
 * Reads a record of each topic that has one, as the processes read them: in a group. It is one of its own, named like
 * those of ingest, and is deleted afterwards.
 * @throws Error with what the brokers refuse to this login
 */
export async function canReadLog(
  client: KafkaClient,
  prefix: string,
  signal: AbortSignal,
): Promise<LogReading> {
  const late = aborted(signal).then(() => 'late' as const);
  const topics = TOPICS.map((topic) => topicName(prefix, topic));
  const places = await Promise.race([placesOf(client, topics), late]);
  if (places === null) return 'unseen';
  if (places === 'late') return 'late';
  const unread = new Set(places.flatMap(({ topic, low, high }) => (low < high ? [topic] : [])));
  const joined = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  // It may reject before anything awaits it, which must not count as an unhandled rejection.
  read.promise.catch(() => {});
  const group = `${prefix}-accounts-position-${randomUUID()}`;
  const consuming = client.consume({
    group,
    topics,
    onBatch: async ({ topic, messages, advancePast }) => {
      const last = messages.at(-1);
      if (last !== undefined) advancePast(last.offset);
      unread.delete(topic);
      if (unread.size === 0) read.resolve();
    },
    onAssigned: () => joined.resolve(),
    onRevoked: () => {},
    onCrash: read.reject,
  });
  const readEach = async (): Promise<LogReading> => {
    const isEmpty = unread.size === 0;
    const consumer = await consuming;
    await Promise.race([joined.promise, read.promise]);
    for (const { topic, partition, low, high } of places)
      consumer.seek(topic, partition, low < high ? high - 1n : high);
    if (unread.size > 0) await read.promise;
    return isEmpty ? 'empty' : 'read';
  };
  const leave = async () => {
    await (await consuming).stop();
    await client.deleteGroup(group);
  };
  try {
    return await Promise.race([readEach(), late]);
  } finally {
    // Once time is up, leaving the group is not waited for.
    await Promise.race([leave().catch(() => {}), late]);
  }
}

type Place = { topic: string } & Awaited<ReturnType<KafkaClient['offsets']>>[number];

/** Null where the brokers do not show all of the topics. */
async function placesOf(client: KafkaClient, topics: readonly string[]): Promise<Place[] | null> {
  if ((await client.partitionCounts([...topics])).size < topics.length) return null;
  const places: Place[] = [];
  for (const topic of topics)
    for (const place of await client.offsets(topic)) places.push({ topic, ...place });
  return places;
}
