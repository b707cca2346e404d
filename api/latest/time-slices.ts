import type { Memo } from './memos/memo.ts';

/** A piece of an answer. */
export interface Piece extends Memo<unknown> {
  /** Whether it is made of what was loaded for this answer alone: no other is told it. */
  isOwn: boolean;
}

/** What one answer is made in, where that takes long: piece by piece, with turns of others between them. */
export interface TimeSlices {
  /** Whether this one has kept the thread for long enough. */
  isOver(): boolean;
  /** What was made in those before it, however much else is kept. */
  get(name: string): Piece | undefined;
  keep(name: string, piece: Piece): void;
}

/** Parts that take long keep the thread so long, then others have their turn: who asks for little meanwhile waits for that. */
const SLICE_MS = 8;

/**
 * For one answer, which is made again and again until all of it is there.
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
      // One piece more comes of each, or one anew, as often as there are pieces: it ends where they change for ever.
      return made.size > before.made || (anew > before.anew && anew <= made.size);
    },
    begin: () => {
      before = { made: made.size, anew };
      begunAt = now();
    },
  };
}
