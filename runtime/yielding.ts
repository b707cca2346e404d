import { setImmediate as breathe } from 'node:timers/promises';

/** Items of some 4 µs each in one run: other requests are answered between two runs. */
const AT_ONCE = 100;

/**
 * Does `work` for each item, and yields to the event loop between runs of them.
 * @param atOnce items of one run, fewer where each takes longer
 * @param costOf how many items one counts for
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
