/** The year 2242: what is later is no time of a block, and days cannot be made of any number. */
const LATEST = 2 ** 33;

/** Unix seconds as a node tells them of a block; null where it tells none that can be one. */
export function blockTimeOf(value: unknown): number | null {
  const isTime = Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < LATEST;
  return isTime ? (value as number) : null;
}
