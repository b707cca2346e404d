import type { Made } from './made/made.ts';
import type { Reading, Slices } from './view.ts';

/** Parts that take long keep the thread so long, then others have their turn: who asks for little meanwhile waits for that. */
const SLICE_MS = 8;

/**
 * For one answer, which is made again and again until all of it is there.
 * @param now milliseconds that only go forward
 */
export function createSlices(now: () => number): Slices & { begin(): void } {
  const made = new Map<string, Made<unknown>>();
  let begunAt = 0;
  let madeBefore = -1;
  let goesOn = true;
  return {
    made,
    isOver: () => goesOn && now() - begunAt >= SLICE_MS,
    begin: () => {
      // Where nothing came of the last one, what it is made of changes faster than slices go by.
      goesOn = made.size > madeBefore;
      madeBefore = made.size;
      begunAt = now();
    },
  };
}

/** Null where something is lacking: what was made or thrown without it says nothing. */
export function attempt<T>(
  make: () => T,
  { lacks, lacksRanked, isUnfinished }: Reading,
): { value: T } | null {
  const isLacking = () => lacks.size > 0 || lacksRanked() || isUnfinished();
  try {
    const value = make();
    return isLacking() ? null : { value };
  } catch (error) {
    if (!isLacking()) throw error;
    return null;
  }
}
