import type { Store } from '../../client.ts';

/** How far the log is applied, over all partitions. */
export interface AppliedMark {
  /** Changes whenever a materialiser has applied something. */
  text: string;
  partitions: bigint;
  /** The sum of their offsets. Neither falls while a table lives: of a batch read again the higher offset stands. */
  offsets: bigint;
}

export async function appliedMarker(store: Store): Promise<AppliedMark> {
  const [row] = await store.query<{ partitions: string; offsets: string; applied_at: string }>(
    `SELECT toString(count()) AS partitions, toString(sum(log_offset)) AS offsets,
       toString(max(applied_at)) AS applied_at
     FROM applied FINAL`,
    {},
  );
  const { partitions = '0', offsets = '0', applied_at = '0' } = row ?? {};
  return {
    text: [partitions, offsets, applied_at].join('.'),
    partitions: BigInt(partitions),
    offsets: BigInt(offsets),
  };
}

/** Whether the table of one mark was lost, or restored from an older backup, before the later one was read. */
export const hasFallen = (before: AppliedMark, now: AppliedMark): boolean =>
  now.partitions < before.partitions || now.offsets < before.offsets;
