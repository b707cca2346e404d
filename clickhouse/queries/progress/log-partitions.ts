import { ConfigError } from '../../../runtime/errors.ts';
import type { Store } from '../../client.ts';

/**
 * Says how many partitions the log has of each topic, before anything of it is applied.
 * @throws ConfigError where the database was filled from another number: keys have moved between partitions since, and
 * sums over partitions would count their facts twice.
 */
export async function declarePartitions(
  store: Store,
  partitions: Readonly<Record<string, number>>,
): Promise<void> {
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
  const declared = Object.entries(partitions).map(([topic, count]) => ({ topic, partitions: count }));
  if (rows.length === 0) await store.insert('log_partitions', declared);
}
