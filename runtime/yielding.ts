import { setImmediate as breathe } from 'node:timers/promises';

/** Of some 4 µs each: who asks for something else meanwhile is answered between two of these. */
const AT_ONCE = 100;

/** Does this with each of many, and lets others go between. */
export async function eachYielding<One>(all: Iterable<One>, work: (one: One) => void): Promise<void> {
  let left = AT_ONCE;
  for (const one of all) {
    work(one);
    left -= 1;
    if (left > 0) continue;
    left = AT_ONCE;
    await breathe();
  }
}
