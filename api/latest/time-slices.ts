import type { Memo } from './memos/memo.ts';

/** What one answer is made in, where that takes long: piece by piece, with turns of others between them. */
export interface TimeSlices {
  /** Whether this one has kept the thread for long enough. */
  isOver(): boolean;
  /** What was made in those before it, however much else is kept. */
  made: Map<string, Memo<unknown>>;
}

/** Parts that take long keep the thread so long, then others have their turn: who asks for little meanwhile waits for that. */
const SLICE_MS = 8;

/**
 * For one answer, which is made again and again until all of it is there.
 * @param now milliseconds that only go forward
 */
export function createTimeSlices(now: () => number): TimeSlices & { begin(): void } {
  const made = new Map<string, Memo<unknown>>();
  let begunAt = 0;
  let madeBefore = 0;
  return {
    made,
    // One piece more comes of each, though all before it are made again because what they are made of has changed.
    isOver: () => made.size > madeBefore && now() - begunAt >= SLICE_MS,
    begin: () => {
      madeBefore = made.size;
      begunAt = now();
    },
  };
}
