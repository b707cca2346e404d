/** How many records are applied at a time. */
export interface BatchSize {
  now(): number;
  applied(): void;
  /** The partition was taken away meanwhile. @param tried of so many */
  lost(tried: number): void;
}

/**
 * A member that is busy for longer than its session loses its partitions, and would be so again with the same batch, for
 * ever: half of it is tried next, down to one record. What is applied in time brings the number up again.
 */
export function createBatchSize(most: number): BatchSize {
  let size = most;
  return {
    now: () => size,
    applied: () => {
      size = Math.min(most, size + Math.ceil(size / 8));
    },
    // Of partitions that are lost together each tells it.
    lost: (tried) => {
      size = Math.min(size, Math.max(1, Math.floor(tried / 2)));
    },
  };
}
