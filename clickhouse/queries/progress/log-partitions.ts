import { ConfigError } from '../../../runtime/errors.ts';
import type { Store } from '../../client.ts';

/** How many partitions the log has of each topic. */
type Partitions = Readonly<Record<string, number>>;

/**
 * Declares how many partitions the log has, before anything of them is applied.
 * @throws ConfigError where the database was filled from another number.
 */
export async function declarePartitions(store: Store, partitions: Partitions): Promise<void> {
  if (await partitionsMustBeAsDeclared(store, partitions)) return;
  const declared = Object.entries(partitions).map(([topic, count]) => ({ topic, partitions: count }));
  await store.insert('log_partitions', declared);
}

/**
 * Checks that a log may be written to, or read, for a database.
 * @returns false where the database was not filled from any log yet.
 * @throws ConfigError where it was filled from another number: keys have moved between partitions since, and sums over
 * partitions would count their facts twice.
 */
export async function partitionsMustBeAsDeclared(store: Store, partitions: Partitions): Promise<boolean> {
  const rows = await store.query<{ topic: string; partitions: number }>(
    'SELECT topic, partitions FROM log_partitions FINAL',
  );
  for (const { topic, partitions: before } of rows) {
    const now = partitions[topic];
    if (now !== undefined && now !== before)
      throw new ConfigError(
        `the log's topic of ${topic} has ${now} partitions, and the database ${store.database} was filled from ${before}: begin a log with that many under another KAFKA_TOPIC_PREFIX, with an empty database`,
      );
  }
  return rows.length > 0;
}
