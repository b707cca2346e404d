import type { Source } from '../cells/cells.ts';

/** What was made of memory, and what it was made of. */
export interface Memo<T> {
  value: T;
  /** Of an answer the memory itself first, which is gone once it was let go: nobody moves the others any more. */
  cells: readonly Source[];
  stamps: readonly number[];
  /** Unix milliseconds at which it was made, and from which on it is another. */
  madeAt: number;
  until: number;
}

/** The memory that an answer was made of. */
export const memoryOf = ({ cells }: Memo<unknown>): Source | undefined => cells[0];

export const isLetGo = (made: Memo<unknown>): boolean => Number.isNaN(memoryOf(made)?.stamp);

/** Whether what was made would be made the same now. */
export function holds(made: Memo<unknown>, now: number, clock: number): boolean {
  // Where the clock was put back nobody knows what it would be, and until when.
  if (now < made.madeAt || made.until <= now) return false;
  const { cells, stamps } = made;
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] as Source;
    if (cell.stamp !== stamps[at]) return false;
    cell.usedAt = clock;
  }
  return true;
}
