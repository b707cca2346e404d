import { DAY_S } from '../units.ts';

/** In June 2149: what is later is no time of a block, and has no day in the sums, which count them in two bytes. */
const LATEST = 2 ** 16 * DAY_S;

/** Unix seconds as a node tells them of a block; null where it tells none that can be one. */
export function blockTimeOf(value: unknown): number | null {
  const isTime = Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < LATEST;
  return isTime ? (value as number) : null;
}
