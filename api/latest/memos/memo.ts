import type { Source } from '../cells/cells.ts';

/** Something made of memory, with the sources it was made of and their stamps then. */
export interface Memo<T> {
  value: T;
  /**
   * For an answer, the memory itself comes first; its stamp is gone once the memory is invalidated, since nobody moves
   * the stamps of the other cells any more.
   */
  cells: readonly Source[];
  stamps: readonly number[];
  /** Unix milliseconds at which it was made, and (`until`) from which on it no longer holds. */
  madeAt: number;
  until: number;
}

/** The memory that an answer was made of. */
export const memoryOf = ({ cells }: Memo<unknown>): Source | undefined => cells[0];

export const isInvalidated = (made: Memo<unknown>): boolean => Number.isNaN(memoryOf(made)?.stamp);

/** Whether something made before would come out the same now. */
export function holds(made: Memo<unknown>, now: number, clock: number): boolean {
  // After the clock was put back it is unknown what it would be, and until when.
  if (now < made.madeAt || made.until <= now) return false;
  const { cells, stamps } = made;
  for (let at = 0; at < cells.length; at += 1) {
    const cell = cells[at] as Source;
    if (cell.stamp !== stamps[at]) return false;
    cell.usedAt = clock;
  }
  return true;
}
