import type { Gap } from './gap.ts';
import type { Due } from './next-due.ts';
import { SETTLED_AFTER } from './prove-top.ts';

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
  /** Since when, by performance.now(), the node has been at the gap's last slot, or past it; null before. */
  thereSince: number | null;
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
  thereSince: null,
  loggedObstacle: '',
  loggedAt,
  notBefore: 0,
});

/**
 * For how long the chain has been at the gap's end without going on far: it may make no more slots, or one a minute, and
 * sums are absent until the gap is read. 0 where the stream shows that the chain did go on: it is the node that stands
 * still then, and what its index lacks may stay away for as long.
 * @param reached the highest slot that the stream brought
 */
export const standsMs = ({ gap, thereSince }: GapTask, reached: bigint): number =>
  thereSince === null || reached >= gap.toSlot + SETTLED_AFTER ? 0 : performance.now() - thereSince;
