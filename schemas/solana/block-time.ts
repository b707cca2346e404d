import { DAY_S } from '../units.ts';

/** June 2149: a later time is not that of a block, and the sums, which count days in two bytes, have no day for it. */
const LATEST = 2 ** 16 * DAY_S;

/** Unix seconds as a node tells them of a block; null where it tells none that can be one. */
export function blockTimeOf(value: unknown): number | null {
  const isTime = Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < LATEST;
  return isTime ? (value as number) : null;
}
