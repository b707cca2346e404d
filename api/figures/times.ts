import { DAY_S } from '../../schemas/units.ts';

/**
 * How far another clock may be ahead of ours. Anything further ahead would count as new until then, however old it is.
 */
export const MAX_AHEAD_MS = 120_000;

/** The oldest of the times of a computed figure's inputs; null where one is not known. */
export function oldest(times: readonly (string | null)[]): string | null {
  let found: string | null = null;
  for (const time of times) {
    if (time === null) return null;
    if (found === null || time < found) found = time;
  }
  return found;
}

/** The newest of the times that are known. */
export function newest(times: readonly (string | null)[]): string | null {
  return times.reduce(
    (found, time) => (time !== null && (found === null || time > found) ? time : found),
    null,
  );
}

/** (now − 24 h, now] in unix seconds, for times that are whole seconds. */
export function lastDay(now: number): { after: number; until: number } {
  const until = Math.floor(now / 1000);
  return { after: until - DAY_S, until };
}

/** Unix milliseconds at which the next second begins. */
export const nextSecond = (now: number): number => (Math.floor(now / 1000) + 1) * 1000;

/** Whole seconds from a unix time to now; negative where it is ahead. */
export function secondsSince(unixSeconds: string, now: number): number {
  return Number(BigInt(Math.floor(now / 1000)) - BigInt(unixSeconds));
}
