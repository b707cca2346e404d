/** The machine's clock, as used by one memory. */
export interface WallClock {
  /** Unix milliseconds. */
  now(): number;
  /** Whether the clock was put back behind a time that `now` returned: what was read then says nothing about now. */
  wasPutBack(): boolean;
  /** Accepts the clock as it is now; the caller drops all that was read before. */
  reset(): void;
  /** How often `reset` was called. */
  resets(): number;
}

/** A clock put back by less is no reason to read everything again: values are wrong by no more, and for no longer. */
const MOST_BACK_MS = 60_000;

/** @param clock Unix milliseconds */
export function createWallClock(clock: () => number): WallClock {
  let newest = Number.NEGATIVE_INFINITY;
  let times = 0;
  return {
    now: () => {
      const now = clock();
      if (now > newest) newest = now;
      return now;
    },
    wasPutBack: () => clock() < newest - MOST_BACK_MS,
    reset: () => {
      newest = clock();
      times += 1;
    },
    resets: () => times,
  };
}
