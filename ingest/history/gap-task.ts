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
  /**
   * Since when, by performance.now(), a node has been at the gap's last slot, or past it, and since when looks have found
   * none there any more; null before the first, and where they have for long.
   */
  there: { since: number; lostAt: number | null } | null;
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

/** A node that looks did not find for so long has begun anew. */
const AWAY_MS = 30_000;

/**
 * For how long the chain has been at the gap's end without going on far: it may make no more slots, or one a minute, and
 * sums are absent until the gap is read. 0 where the stream shows that the chain did go on: it is the node that stands
 * still then, and what its index lacks may stay away for as long.
 * @param reached the highest slot that the stream brought
 */
export function standingOf(task: GapTask, reached: bigint): Standing {
  const { gap, there } = task;
  const goesOn = there === null || reached >= gap.toSlot + SETTLED_AFTER;
  return {
    ms: goesOn ? 0 : performance.now() - there.since,
    looked: (found) => {
      const now = performance.now();
      if (found) task.there = { since: task.there?.since ?? now, lostAt: null };
      else if (task.there !== null) {
        const lostAt = task.there.lostAt ?? now;
        task.there = now - lostAt > AWAY_MS ? null : { ...task.there, lostAt };
      }
    },
  };
}
