import type { AppliedRow } from '../../clickhouse/progress-tables.ts';

/** The longest that a row of `applied` waits for others: a slot that brought nothing shows that much later at most. */
const WAIT_MS = 250;

/** A batch that is being written. */
export interface InFlightBatch {
  /**
   * Writes the partition's row of `applied`, the last row of the batch.
   * @param quiet no reader waits for this batch: its row waits for one that some reader waits for.
   * @param rowAt makes the row; null where the partition was taken away meanwhile.
   * @returns false where it was taken away.
   */
  applied(quiet: boolean, rowAt: (now: number) => AppliedRow | null): Promise<boolean>;
  /** The batch failed, or has no row of `applied`. */
  release(): void;
}

interface Waiting {
  rowAt(now: number): AppliedRow | null;
  /** The batches under way that the row waits for; a quiet row has its timer among them. */
  others: Set<object>;
  timer: NodeJS.Timeout;
  done(written: boolean): void;
  failed(error: unknown): void;
}

/**
 * Inserts rows of `applied` together: a slot shows once every partition has its row, so no reader loses anything when a
 * row waits for the partitions that are just being written.
 * @param insert inserts all rows that are due.
 */
export function createAppliedRows(insert: (rows: readonly AppliedRow[]) => Promise<void>): {
  begin(): InFlightBatch;
} {
  const inFlight = new Set<object>();
  let waiting: Waiting[] = [];

  const flush = async () => {
    const due = waiting;
    waiting = [];
    for (const { timer } of due) clearTimeout(timer);
    const now = Date.now();
    const rows = due.map(({ rowAt }) => rowAt(now));
    try {
      const written = rows.filter((row) => row !== null);
      if (written.length > 0) await insert(written);
      due.forEach(({ done }, at) => void done(rows[at] !== null));
    } catch (error) {
      for (const { failed } of due) failed(error);
    }
  };
  const end = (one: object) => {
    inFlight.delete(one);
    for (const { others } of waiting) others.delete(one);
    if (waiting.some(({ others }) => others.size === 0)) void flush();
  };
  return {
    begin: () => {
      const mine = {};
      inFlight.add(mine);
      return {
        release: () => end(mine),
        applied: (quiet, rowAt) =>
          new Promise((done, failed) => {
            inFlight.delete(mine);
            const others = new Set<object>(inFlight);
            const timer = setTimeout(() => {
              others.clear();
              void flush();
            }, WAIT_MS);
            if (quiet) others.add(timer);
            waiting.push({ rowAt, others, timer, done, failed });
            end(mine);
          }),
      };
    },
  };
}
