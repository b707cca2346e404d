import { setImmediate as whatElseCame } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createYieldingQueue } from '../../api/postgres/yielding-queue.ts';

/** An engine that works on the calling thread: each query takes so long by a simulated clock. */
function engine(tookMs: number) {
  let now = 0;
  const inSlices = createYieldingQueue({ now: () => now });
  let done = 0;
  const ask = () =>
    inSlices(async () => {
      now += tookMs;
      done += 1;
      await Promise.resolve();
    });
  return { ask, done: () => done };
}

test('of 100 queries to an engine in this thread at most eight run before other events are handled', async () => {
  const { ask, done } = engine(1);
  const all = Promise.all(Array.from({ length: 100 }, ask));
  const before: number[] = [];
  while (done() < 100) {
    before.push(done());
    await whatElseCame();
  }
  await all;
  before.push(done());
  const atOnce = before.slice(1).map((count, at) => count - (before[at] as number));
  expect(Math.max(...atOnce)).toBeLessThanOrEqual(8);
});

test.each([
  ['nobody else wants the thread', 0, []],
  ['others have little to do', 1, []],
  ['others have as much to do', 2, [6, 6]],
  ['a question took long, too', 40, [20, 20]],
])('the queue rests only if others need the thread as much as it does: %s', async (_, othersMs, rests) => {
  let now = 0;
  const rested: number[] = [];
  const later = (call: () => void) => {
    now += othersMs;
    queueMicrotask(call);
  };
  const after = (call: () => void, ms: number) => {
    rested.push(ms);
    queueMicrotask(call);
  };
  const inSlices = createYieldingQueue({ now: () => now, later, after });
  const tookMs = othersMs > 20 ? 30 : 2;
  const ask = () =>
    inSlices(async () => {
      now += tookMs;
    });
  await Promise.all([ask(), ask(), ask()]);
  expect(rested).toEqual(rests);
});

test('a query that fails rejects, and the next one still runs', async () => {
  const inSlices = createYieldingQueue();
  await expect(inSlices(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect(await inSlices(async () => 'answered')).toBe('answered');
});
