import type { Store } from '../../../clickhouse/client.ts';
import { OffsetGapError } from '../../log/offset-gap.ts';
import type { LogBatch } from '../../log/port.ts';
import { readProgress } from '../progress.ts';
import type { Memory } from './memory.ts';

/** The current memory. All of it gives way to a new, empty one where the database has less than it says. */
export interface HeldMemory {
  now(): Memory;
  /** A batch that began with the memory `mine` has failed, maybe because of the database. */
  failed(mine: Memory, batch: LogBatch, error: unknown): void;
  /** To be called before a batch begins: if a batch failed since, the database is asked where the partition stands. */
  verifyBeforeBatch(batch: LogBatch): Promise<void>;
  /**
   * The same before the batch's place is written.
   * @param failures how many there were as the batch began at `offset`
   */
  verifyBeforeCommit(mine: Memory, batch: LogBatch, failures: number, offset: bigint): Promise<void>;
}

export const placeOf = ({ topic, partition }: LogBatch): string => `${topic}/${partition}`;

export function createHeldMemory(store: Store, remember: () => Memory): HeldMemory {
  let memory = remember();

  const mustHave = async (mine: Memory, { topic, partition }: LogBatch, offset: bigint): Promise<void> => {
    const stored = await readProgress(store, topic, partition);
    // A database that has more has what was thought to have failed.
    if (stored.offset < offset && memory === mine) memory = remember();
  };

  return {
    now: () => memory,
    failed: (mine, batch, error) => {
      if (memory !== mine) return;
      // After an offset gap the memory knows nothing of the partition: one that comes again and again leaves the memory
      // of the others alone.
      if (error instanceof OffsetGapError) {
        if (memory.known.has(placeOf(batch))) memory = remember();
        return;
      }
      memory.failures += 1;
      for (const place of memory.known.keys()) memory.unverified.add(place);
    },
    verifyBeforeBatch: async (batch) => {
      const mine = memory;
      const known = mine.known.get(placeOf(batch));
      if (known === undefined || !mine.unverified.has(placeOf(batch))) return;
      // Before the query: a batch that fails while it runs makes the place unverified again.
      mine.unverified.delete(placeOf(batch));
      await mustHave(mine, batch, known.offset);
    },
    verifyBeforeCommit: async (mine, batch, failures, offset) => {
      if (failures !== mine.failures) await mustHave(mine, batch, offset);
    },
  };
}
