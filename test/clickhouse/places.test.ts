import { setImmediate as breathe } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPlaces } from '../../clickhouse/embedded/places.ts';
import { awaited } from '../support/awaited.ts';

/** Work that ends when it is told to, in the order in which it began. */
function works() {
  const begun: { name: string; end(error?: Error): void }[] = [];
  const work = (name: string) => () => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    begun.push({ name, end: (error) => (error === undefined ? resolve(name) : reject(error)) });
    return promise;
  };
  return { begun, work, names: () => begun.map(({ name }) => name).join(' ') };
}

test('so many work at a time, lanes take turns, and a failure makes room as an end does', async () => {
  const { begun, work, names } = works();
  const places = createPlaces(2, 100_000);
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

test('what takes too long goes on without its place, which is given up once', async () => {
  const { begun, work, names } = works();
  const lane = createPlaces(1, 1).lane();
  const all = [lane(work('long')), lane(work('next'))];
  await awaited(() => expect(names()).toBe('long next'));
  begun[0]?.end();
  await breathe();
  begun[1]?.end();
  expect(await Promise.all(all)).toEqual(['long', 'next']);
  expect(await lane(async () => 'last')).toBe('last');
});
