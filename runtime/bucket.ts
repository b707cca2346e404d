import { pause } from './lifecycle.ts';

export interface Bucket {
  /** Waits for a token; false where the signal was given first. */
  take(signal: AbortSignal): Promise<boolean>;
  /** Takes a token where one is there now. */
  tryTake(): boolean;
}

/** At most `perSecond` in the long run and `burst` at once. */
export function createBucket(perSecond: number, burst: number, clock: () => number = Date.now): Bucket {
  let tokens = burst;
  let filledAt = clock();
  const fill = () => {
    const now = clock();
    tokens = Math.min(burst, tokens + (Math.max(0, now - filledAt) * perSecond) / 1000);
    filledAt = now;
  };
  const tryTake = () => {
    fill();
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
  return {
    tryTake,
    take: async (signal) => {
      while (!signal.aborted) {
        if (tryTake()) return true;
        await pause(Math.ceil(((1 - tokens) * 1000) / perSecond), signal);
      }
      return false;
    },
  };
}
