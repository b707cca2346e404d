import { asksForLess } from './error.ts';

/** How many of something a provider takes at a time, learnt from its refusals. */
export interface AdaptiveLimit {
  /** Runs `work` for `wanted`, or for as many as the provider takes. @throws what `work` throws for the fewest */
  ask<T>(wanted: number, work: (many: number) => Promise<T>): Promise<T>;
}

/** Successes at the limit before twice as many are tried: the refusal of more may have been temporary. */
const TAKEN_BEFORE_MORE = 10;
/** Each time more is refused again, twice as many successes are needed before the next try, up to this. */
const MOST_TAKEN_BEFORE_MORE = 1_000;

/** @param fewest the number that is not halved any more. */
export function createAdaptiveLimit(fewest: number): AdaptiveLimit {
  let most = Number.POSITIVE_INFINITY;
  let taken = 0;
  let enough = TAKEN_BEFORE_MORE;

  /** @returns null where that many are refused. */
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
          // Only once fewer are taken: where none are, it is not their number that is refused.
          if (many < first) [most, taken] = [many, 0];
          return answer;
        } catch (error) {
          if (many <= fewest || !asksForLess(error)) throw error;
        }
      }
    },
  };
}
