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

/** The last offset of a partition that is applied, and when the newest record up to it was appended to the log. */
export interface AppliedPlace {
  offset: bigint;
  /** Unix milliseconds; null where it is not known. */
  writtenAt: number | null;
}

/** The same, with the times of writing, which tell these offsets from equal ones of another log. */
export async function appliedPlaces(store: Store): Promise<ReadonlyMap<string, AppliedPlace>> {
  const rows = await store.query<{ place: string; log_offset: string; written_at: string | null }>(
    `SELECT concat(topic, '/', toString(log_partition)) AS place, log_offset, written_at FROM applied FINAL`,
  );
  return new Map(
    rows.map(({ place, log_offset, written_at }) => [
      place,
      { offset: BigInt(log_offset), writtenAt: written_at === null ? null : Number(written_at) },
    ]),
  );
}

/** Whether every place of `target` is reached. */
export function reaches(offsets: Offsets, target: Offsets): boolean {
  return [...target].every(([place, offset]) => (offsets.get(place) ?? -1n) >= offset);
}
