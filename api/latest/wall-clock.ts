/** The machine's clock as a memory is read by it. */
export interface WallClock {
  /** Unix milliseconds. */
  now(): number;
  /** Whether it was put back to before a moment that it has told: what was read by that says nothing of now. */
  wasPutBack(): boolean;
  /** It goes on from here: nothing is kept that was read before. */
  goOn(): void;
  /** How often it has. */
  wentOn(): number;
}

/** Put back by less it is no reason to read everything anew: what it was ahead is wrong by as much, and for as long. */
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
    goOn: () => {
      newest = clock();
      times += 1;
    },
    wentOn: () => times,
  };
}
