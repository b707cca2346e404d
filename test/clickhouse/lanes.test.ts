import { setImmediate as breathe } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLanes } from '../../clickhouse/embedded/lanes.ts';

/** Work that the test ends, listed in the order in which it began. */
function works() {
  const begun: { name: string; end(error?: Error): void }[] = [];
  const work = (name: string) => () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    begun.push({ name, end: (error) => (error === undefined ? resolve(name) : reject(error)) });
    return promise;
  };
  return { begun, work, names: () => begun.map(({ name }) => name).join(' ') };
}

test('work is limited to the number of places, lanes take turns, and failed work frees its place', async () => {
  const { begun, work, names } = works();
  const places = createLanes(2, 100_000, () => 0);
  const [flood, other] = [places.lane(), places.lane()];
  const all = Array.from({ length: 5 }, (_, n) => flood(work(`f${n}`)));
  all.push(other(work('o0')), other(work('o1')));
  const ended = Promise.allSettled(all);
  await breathe();
  expect(names()).toBe('f0 f1');
  for (let n = 0; n < 7; n += 1) {
    begun[n]?.end(n === 1 ? new Error('down') : undefined);
    await breathe();
  }
  expect(names()).toBe('f0 f1 f2 o0 f3 o1 f4');
  const told = (await ended).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message));
  expect(told).toEqual(['f0', 'down', 'f2', 'f3', 'f4', 'o0', 'o1']);
});

test('a free place goes to the waiting lane that has held places for the least time recently', async () => {
  let now = 0;
  const { begun, work, names } = works();
  const places = createLanes(1, 100_000, () => now);
  const [flood, other] = [places.lane(), places.lane()];
  const all = [flood(work('f0')), flood(work('f1')), flood(work('f2')), other(work('o0')), other(work('o1'))];
  const end = async (n: number, tookMs: number) => {
    now += tookMs;
    begun[n]?.end();
    await breathe();
  };
  await breathe();
  for (let n = 0; n < 5; n += 1) await end(n, n === 0 ? 100 : 10);
  // The time for which a lane has held places is halved with each second.
  expect(names()).toBe('f0 o0 o1 f1 f2');
  await Promise.all(all);
  now += 60_000;
  const later = [other(work('o2')), other(work('o3')), flood(work('f3'))];
  await breathe();
  for (let n = 5; n < 8; n += 1) await end(n, 1_000);
  expect(names()).toBe('f0 o0 o1 f1 f2 o2 f3 o3');
  await Promise.all(later);
});

test('work that exceeds its time limit gives up its place, once, and keeps running to its result', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { begun, work, names } = works();
  const lane = createLanes(1, 1_000).lane();
  const all = ['long', 'next', 'then', 'last'].map((name) => lane(work(name)));
  await breathe();
  expect(names()).toBe('long');
  vi.advanceTimersByTime(1_000);
  await breathe();
  expect(names()).toBe('long next');
  // The place is given up already: its end frees none.
  begun[0]?.end();
  await breathe();
  expect(names()).toBe('long next');
  for (const at of [1, 2, 3]) {
    begun[at]?.end();
    await breathe();
    expect(begun.length).toBe(Math.min(at + 2, 4));
  }
  expect(await Promise.all(all)).toEqual(['long', 'next', 'then', 'last']);
});
