import type { Store } from '../client.ts';

/** Says how many partitions the log has of each topic, before anything of it is applied. A topic's number only grows. */
export async function declarePartitions(
  store: Store,
  partitions: Readonly<Record<string, number>>,
): Promise<void> {
  await store.insert(
    'log_partitions',
    Object.entries(partitions).map(([topic, count]) => ({ topic, partitions: count })),
  );
}
