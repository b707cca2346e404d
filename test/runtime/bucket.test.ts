import { expect, test } from 'vitest';
import { createBucket } from '../../runtime/outside/bucket.ts';

test('a bucket gives its burst at once, then so many a second, and never saves up more than the burst', () => {
  let now = 1_000;
  const bucket = createBucket(2, 3, () => now);
  const takeAll = () => {
    let taken = 0;
    while (bucket.tryTake()) taken += 1;
    return taken;
  };
  expect(takeAll()).toBe(3);
  now += 499;
  expect(takeAll()).toBe(0);
  now += 1;
  expect(takeAll()).toBe(1);
  now += 60_000;
  expect(takeAll()).toBe(3);
});

test('a clock that jumps back adds no token and does not delay the next one', () => {
  let now = 1_000;
  const bucket = createBucket(1, 1, () => now);
  expect(bucket.tryTake()).toBe(true);
  now -= 10_000;
  expect(bucket.tryTake()).toBe(false);
  now += 1_000;
  expect(bucket.tryTake()).toBe(true);
});

test('waiting for a token ends when the signal is aborted', async () => {
  const bucket = createBucket(0.001, 1);
  const stop = new AbortController();
  expect(await bucket.take(stop.signal)).toBe(true);
  const waiting = bucket.take(stop.signal);
  stop.abort();
  expect(await waiting).toBe(false);
});
