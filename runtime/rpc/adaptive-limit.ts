import { asksForLess } from './error.ts';

/** How many of something a provider takes at a time, learnt from its refusals. */
export interface AdaptiveLimit {
  /** Asks for as many as are wanted and taken. @param work is told for how many. @throws what it throws for the fewest */
  ask<T>(wanted: number, work: (many: number) => Promise<T>): Promise<T>;
}

/** Taken one after the other at the limit until twice as many are tried: what refused them may have been a moment's. */
const TAKEN_BEFORE_MORE = 10;
/** Where more is refused again it is tried ever more rarely, down to this. */
const MOST_TAKEN_BEFORE_MORE = 1_000;

/** @param fewest is not halved any more. */
export function createAdaptiveLimit(fewest: number): AdaptiveLimit {
  let most = Number.POSITIVE_INFINITY;
  let taken = 0;
  let enough = TAKEN_BEFORE_MORE;

  /** @returns null where it is refused. */
  const tryMore = async <T>(
    many: number,
    work: (many: number) => Promise<T>,
  ): Promise<{ answer: T } | null> => {
    taken = 0;
    try {
      const answer = await work(many);
      most = many;
      enough = TAKEN_BEFORE_MORE;
      return { answer };
    } catch (error) {
      if (!asksForLess(error)) throw error;
      enough = Math.min(enough * 2, MOST_TAKEN_BEFORE_MORE);
      return null;
    }
  };

  return {
    ask: async (wanted, work) => {
      const more = wanted > most && taken >= enough ? await tryMore(Math.min(wanted, most * 2), work) : null;
      if (more !== null) return more.answer;
      const first = Math.min(wanted, most);
      for (let many = first; ; many = Math.floor(many / 2)) {
        try {
          const answer = await work(many);
          if (many === most) taken += 1;
          // Where nothing is taken it is not the number that is refused.
          if (many < first) [most, taken] = [many, 0];
          return answer;
        } catch (error) {
          if (many <= fewest || !asksForLess(error)) throw error;
        }
      }
    },
  };
}
