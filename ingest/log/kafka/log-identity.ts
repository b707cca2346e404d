import type { Offsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { HISTORY_TOPICS } from '../port.ts';
import type { KafkaClient } from './cluster.ts';
import { topicName } from './topics.ts';

/**
 * That a log may be written to: records would stand a second time at offsets that sums have already, where it has lost
 * its end or is another one.
 * @throws ConfigError that says what to do.
 */
export async function mustReachApplied(
  client: KafkaClient,
  prefix: string,
  database: string,
  applied: Offsets,
): Promise<void> {
  for (const { name, partition, high, next } of await placesOf(client, prefix, applied)) {
    if (next > high)
      throw new ConfigError(
        `${database} was filled from another log, or this one has lost its end: ${next - 1n} of ${name}/${partition} is applied, which ends at ${high}. Nothing is written, for its offsets would be used a second time. Give this log an empty database (CLICKHOUSE_URL) and run migrate, or the other log back (KAFKA_TOPIC_PREFIX).`,
      );
  }
}

/**
 * That a database can go on with this log. Sums are versioned by the log's offsets: those of a log that begins anew
 * would lose against what is there; and what retention has deleted before it was applied is nowhere.
 * @throws ConfigError that says what to do.
 */
export async function mustBeSameLog(
  client: KafkaClient,
  prefix: string,
  database: string,
  applied: Offsets,
): Promise<void> {
  await mustReachApplied(client, prefix, database, applied);
  for (const { name, partition, low, next } of await placesOf(client, prefix, applied)) {
    if (next < low)
      throw new ConfigError(
        `${database} has nothing of ${name}/${partition} from ${next} on, and retention has deleted what is before ${low}. Begin a new log (KAFKA_TOPIC_PREFIX) with an empty database (CLICKHOUSE_URL), and run migrate: ingest reads history over RPC.`,
      );
  }
}

/** Every partition, and the first offset of it that is not applied. */
async function placesOf(client: KafkaClient, prefix: string, applied: Offsets) {
  const places = await Promise.all(
    HISTORY_TOPICS.map(async (topic) => {
      const name = topicName(prefix, topic);
      const offsets = await client.offsets(name);
      return offsets.map((place) => ({
        ...place,
        name,
        next: (applied.get(`${topic}/${place.partition}`) ?? -1n) + 1n,
      }));
    }),
  );
  return places.flat();
}
