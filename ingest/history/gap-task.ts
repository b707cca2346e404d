import type { Gap } from './gap.ts';
import type { Due } from './next-due.ts';
import { SETTLED_AFTER, type Standing } from './prove-top.ts';

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
  /** Between which looks, by performance.now(), a node was at the gap's last slot, or past it; null before. */
  there: { first: number; last: number } | null;
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
  there: null,
  loggedObstacle: '',
  loggedAt,
  notBefore: 0,
});

/** Longer than between two looks: a node that was away for so long has begun anew. */
const AWAY_MS = 30_000;

/**
 * For how long the chain has been at the gap's end without going on far: it may make no more slots, or one a minute, and
 * sums are absent until the gap is read. 0 where the stream shows that the chain did go on: it is the node that stands
 * still then, and what its index lacks may stay away for as long.
 * @param reached the highest slot that the stream brought
 */
export function standingOf(task: GapTask, reached: bigint): Standing {
  const now = performance.now();
  const { gap, there } = task;
  const isThere = there !== null && now - there.last <= AWAY_MS;
  if (!isThere) task.there = null;
  return {
    ms: !isThere || reached >= gap.toSlot + SETTLED_AFTER ? 0 : now - there.first,
    seen: () => {
      task.there = { first: task.there?.first ?? now, last: now };
    },
  };
}
