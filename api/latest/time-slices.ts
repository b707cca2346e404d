import type { Memo } from './memos/memo.ts';

/** A piece of an answer. */
export interface Piece extends Memo<unknown> {
  /** Whether it is made of what was loaded for this answer alone: it is then not shared with others. */
  isOwn: boolean;
}

/** The time slices in which a long answer is made: piece by piece, with other requests running in between. */
export interface TimeSlices {
  /** Whether the current slice has kept the thread for long enough. */
  isOver(): boolean;
  /** A piece made in this slice or an earlier one, whether or not the shared cache still has it. */
  get(name: string): Piece | undefined;
  keep(name: string, piece: Piece): void;
}

/** How long the parts of one answer keep the thread before other requests run; these wait as long. */
const SLICE_MS = 8;

/**
 * Slices of one answer, which is made again and again until all of it is there.
 * @param now milliseconds that only go forward
 */
export function createTimeSlices(now: () => number): TimeSlices & { begin(): void } {
  const made = new Map<string, Piece>();
  let begunAt = 0;
  /** Pieces that were made anew, because what they are made of has changed. */
  let anew = 0;
  let before = { made: 0, anew: 0 };
  return {
    get: (name) => made.get(name),
    keep: (name, piece) => {
      if (made.has(name)) anew += 1;
      made.set(name, piece);
    },
    isOver: () => {
      if (now() - begunAt < SLICE_MS) return false;
      // A slice ends only once it has made one more piece, or one anew. Pieces made anew end no more slices than there
      // are pieces: so the answer is finished even where its pieces change for ever.
      return made.size > before.made || (anew > before.anew && anew <= made.size);
    },
    begin: () => {
      before = { made: made.size, anew };
      begunAt = now();
    },
  };
}
