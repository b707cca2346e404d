/** How many records are applied at a time. */
export interface BatchSize {
  now(): number;
  applied(): void;
  /** The partition was taken away while a batch was being applied. @param tried how many records that batch had */
  lost(tried: number): void;
}

/**
 * A group member that is busy for longer than its session loses its partitions, and would lose them to the same batch
 * again and again: half as many records are tried next, down to one. Batches that are applied in time raise the number.
 */
export function createBatchSize(most: number): BatchSize {
  let size = most;
  return {
    now: () => size,
    applied: () => {
      size = Math.min(most, size + Math.ceil(size / 8));
    },
    // Partitions that are lost together each call this: half of `tried`, not of `size`, halves it once only.
    lost: (tried) => {
      size = Math.min(size, Math.max(1, Math.floor(tried / 2)));
    },
  };
}
