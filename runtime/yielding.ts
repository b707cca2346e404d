import { setImmediate as breathe } from 'node:timers/promises';

/** Of some 4 µs each: who asks for something else meanwhile is answered between two of these. */
const AT_ONCE = 100;

/**
 * Does this with each of many, and lets others go between.
 * @param atOnce fewer where each takes longer
 * @param costOf for how many of them one counts
 */
export async function eachYielding<One>(
  all: Iterable<One>,
  work: (one: One) => void,
  atOnce = AT_ONCE,
  costOf: (one: One) => number = () => 1,
): Promise<void> {
  let left = atOnce;
  for (const one of all) {
    work(one);
    left -= costOf(one);
    if (left > 0) continue;
    left = atOnce;
    await breathe();
  }
}
