import { asksForLess } from './error.ts';

/** How many of something a provider takes at a time, learnt from its refusals. */
export interface AdaptiveLimit {
  /** Asks for as many as are wanted and taken. @param work is told for how many. @throws what it throws for the fewest */
  ask<T>(wanted: number, work: (many: number) => Promise<T>): Promise<T>;
}

/** @param fewest is not halved any more. */
export function createAdaptiveLimit(fewest: number): AdaptiveLimit {
  let most = Number.POSITIVE_INFINITY;
  return {
    ask: async (wanted, work) => {
      const first = Math.min(wanted, most);
      for (let many = first; ; many = Math.floor(many / 2)) {
        try {
          const taken = await work(many);
          // Where nothing is taken it is not the number that is refused.
          if (many < first) most = many;
          return taken;
        } catch (error) {
          if (many <= fewest || !asksForLess(error)) throw error;
        }
      }
    },
  };
}
