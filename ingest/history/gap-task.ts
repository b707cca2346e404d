import type { Gap } from './gap.ts';
import type { Due } from './next-due.ts';

/** A gap that is to be closed, and how its tries went. */
export interface GapTask extends Due {
  gap: Gap;
  /**
   * Aborted once a gap that reaches further has taken its place, or another process has read it: nothing more is told
   * of it then.
   */
  replaced: AbortController;
  attempt: number;
  /** Times in a row that no node knew where the list goes on. */
  lost: number;
  /**
   * Since when, by performance.now(), the chain has not been far enough past the gap, or when that was told last; null
   * where it is.
   */
  unsettledSince: number | null;
  /** The obstacle that the log names last. */
  loggedObstacle: string;
  /** Any marker above this slot stands behind all records of the gap in the log; null while one is being written. */
  loggedAt: bigint | null;
}

export const taskOf = (gap: Gap, loggedAt: bigint): GapTask => ({
  gap: { ...gap },
  replaced: new AbortController(),
  attempt: 0,
  lost: 0,
  unsettledSince: null,
  loggedObstacle: '',
  loggedAt,
  notBefore: 0,
});
