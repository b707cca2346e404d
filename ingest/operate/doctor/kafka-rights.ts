import { randomUUID } from 'node:crypto';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import type { KafkaClient } from '../../log/kafka/cluster.ts';
import { topicName } from '../../log/kafka/topics.ts';
import { TOPICS } from '../../log/port.ts';

/**
 * Reads a record of each topic that has one, as the processes read them: in a group, one of its own that goes again.
 * False where the brokers show no such topics. @throws Error with what they refuse to this login
 */
export async function canReadLog(client: KafkaClient, prefix: string, signal: AbortSignal): Promise<boolean> {
  const topics = TOPICS.map((topic) => topicName(prefix, topic));
  if ((await client.partitionCounts(topics)).size < topics.length) return false;
  const places = [];
  for (const topic of topics)
    for (const place of await client.offsets(topic)) places.push({ topic, ...place });
  const unread = new Set(places.flatMap(({ topic, low, high }) => (low < high ? [topic] : [])));
  const joined = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  // It may be rejected before anybody waits for it.
  read.promise.catch(() => {});
  const group = `${prefix}-doctor-${randomUUID()}`;
  const consumer = await client.consume({
    group,
    topics,
    onBatch: async ({ topic, messages, passed }) => {
      const last = messages.at(-1);
      if (last !== undefined) passed(last.offset);
      unread.delete(topic);
      if (unread.size === 0) read.resolve();
    },
    onAssigned: () => joined.resolve(),
    onRevoked: () => {},
    onCrash: read.reject,
  });
  const late = aborted(signal).then(() => Promise.reject(new Error('no record of the log in time')));
  try {
    await Promise.race([joined.promise, read.promise, late]);
    for (const { topic, partition, low, high } of places)
      consumer.seek(topic, partition, low < high ? high - 1n : high);
    if (unread.size > 0) await Promise.race([read.promise, late]);
    return true;
  } finally {
    await consumer.stop().catch(() => {});
    await client.deleteGroup(group).catch(() => {});
  }
}
