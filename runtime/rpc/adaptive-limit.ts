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

  const onTaken = (first: number, many: number, isMore: boolean) => {
    if (many < first) {
      most = many;
      taken = 0;
      if (isMore) enough = Math.min(enough * 2, MOST_TAKEN_BEFORE_MORE);
    } else if (isMore) {
      most = many;
      enough = TAKEN_BEFORE_MORE;
    } else if (many === most) taken += 1;
  };

  return {
    ask: async (wanted, work) => {
      const isMore = wanted > most && taken >= enough;
      if (isMore) taken = 0;
      const first = Math.min(wanted, isMore ? most * 2 : most);
      for (let many = first; ; many = Math.floor(many / 2)) {
        try {
          const answer = await work(many);
          // Where nothing is taken it is not the number that is refused.
          onTaken(first, many, isMore);
          return answer;
        } catch (error) {
          if (many <= fewest || !asksForLess(error)) throw error;
        }
      }
    },
  };
}
