import type { Store } from '../../client.ts';

/** Offsets of the log by `topic/partition`. */
export type Offsets = ReadonlyMap<string, bigint>;

/** The last offset that is applied, of each partition of each topic that has one. */
export async function appliedOffsets(store: Store): Promise<Offsets> {
  const rows = await store.query<{ place: string; log_offset: string }>(
    `SELECT concat(topic, '/', toString(log_partition)) AS place, log_offset FROM applied FINAL`,
  );
  return new Map(rows.map(({ place, log_offset }) => [place, BigInt(log_offset)]));
}

/** Whether every place of `target` is reached. */
export function reaches(offsets: Offsets, target: Offsets): boolean {
  return [...target].every(([place, offset]) => (offsets.get(place) ?? -1n) >= offset);
}
