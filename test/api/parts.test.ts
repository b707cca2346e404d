import { describe, expect, test, vi } from 'vitest';
import { priceOf, rateOf } from '../../api/figures/price.ts';
import { createAnswerCache } from '../../api/http/answer-cache.ts';
import { answerOf } from '../../api/http/answers.ts';
import { logFailedRequests } from '../../api/http/failed-requests.ts';
import { publicDetail } from '../../api/http/public-detail.ts';
import { createAppliedSignal, pollApplied } from '../../api/latest/applied-signal.ts';
import type { Store } from '../../clickhouse/client.ts';
import { usdValue } from '../../schemas/units.ts';

describe('the cache of answers', () => {
  function setUp() {
    const state = { marker: 'a', now: 0, made: 0 };
    const cache = createAnswerCache({
      marker: () => state.marker,
      maxAgeMs: 1000,
      maxBytes: 10_000,
      monotonic: () => state.now,
    });
    const ask = () =>
      cache('key', async () => {
        state.made += 1;
        return answerOf({ status: 200, body: state.made });
      });
    return { state, cache, ask };
  }

  test('an answer is used for a second of its marker and no longer', async () => {
    const { state, ask } = setUp();
    const first = await ask();
    state.now = 999;
    expect(await ask()).toBe(first);
    state.now = 1000;
    expect(await ask()).not.toBe(first);
    state.marker = 'b';
    await ask();
    expect(state.made).toBe(3);
  });

  test('who asks while one is made waits for it; a newer marker makes its own', async () => {
    const { state, cache } = setUp();
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow = () =>
      cache('key', async () => {
        state.made += 1;
        await promise;
        return answerOf({ status: 200, body: null });
      });
    const waiting = [slow(), slow()];
    state.marker = 'b';
    waiting.push(slow());
    resolve();
    await Promise.all(waiting);
    expect(state.made).toBe(2);
  });

  test('a failure reaches all who wait for it and is not kept', async () => {
    const { cache, ask } = setUp();
    const fail = () => cache('key', () => Promise.reject(new Error('down')));
    const results = await Promise.allSettled([fail(), fail()]);
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected']);
    expect((await ask()).status).toBe(200);
  });
});

const WAIT = { timeout: 30_000, interval: 5 };

describe('the applied marker', () => {
  test('told in process, it changes with every advance', () => {
    const signal = createAppliedSignal();
    const before = signal.marker();
    expect(signal.marker()).toBe(before);
    signal.advance();
    expect(signal.marker()).not.toBe(before);
  });

  test('polled, it follows the store, its database too, and outlives its failures', async () => {
    const stopping = new AbortController();
    let answer = { database: 'one', marker: '1' };
    let failing = false;
    let errors = 0;
    const store = () =>
      ({
        database: answer.database,
        query: async () => {
          if (failing) throw new Error('down');
          return [{ marker: answer.marker }];
        },
      }) as unknown as Store;
    const polled = pollApplied({
      currentStore: store,
      intervalMs: 1,
      signal: stopping.signal,
      onError: () => {
        errors += 1;
        failing = false;
      },
    });
    const changedFrom = (before: string) => vi.waitFor(() => expect(polled.marker()).not.toBe(before), WAIT);
    const first = polled.marker();
    await changedFrom(first);
    const second = polled.marker();
    answer = { database: 'two', marker: '1' };
    await changedFrom(second);
    const third = polled.marker();
    failing = true;
    answer = { database: 'two', marker: '2' };
    await changedFrom(third);
    expect(errors).toBe(1);
    stopping.abort();
    await polled.done;
  });

  test('polled, it leaves the store alone while nobody asks, and is another one for who asks then', async () => {
    const stopping = new AbortController();
    let questions = 0;
    const store = {
      database: 'one',
      query: async () => {
        questions += 1;
        return [{ marker: '1' }];
      },
    } as unknown as Store;
    const polled = pollApplied({
      currentStore: () => store,
      intervalMs: 1,
      idleMs: 20,
      signal: stopping.signal,
      onError: () => {},
    });
    const restless = async () => {
      const before = questions;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return questions - before;
    };
    await vi.waitFor(async () => expect(await restless()).toBe(0), WAIT);
    const before = polled.marker();
    await vi.waitFor(async () => expect(await restless()).toBe(0), WAIT);
    const asked = questions;
    expect(polled.marker()).not.toBe(before);
    await vi.waitFor(() => expect(questions).toBeGreaterThan(asked), WAIT);
    await vi.waitFor(async () => expect(await restless()).toBe(0), WAIT);
    stopping.abort();
    await polled.done;
  });
});

describe('the log of failed requests', () => {
  test('has one line a second of those that say the same, with the number of those left out', () => {
    let now = 0;
    const lines: Record<string, unknown>[] = [];
    const failed = logFailedRequests({ error: (line: object) => void lines.push({ ...line }) }, () => now);
    const down = new Error('the store is down');
    const other = new Error('something else');
    for (now = 0; now < 2_500; now += 10) failed(down, `/${now}`);
    failed(other, '/other');
    expect(lines).toEqual([
      { err: down, path: '/0', alike: 0 },
      { err: down, path: '/1000', alike: 99 },
      { err: down, path: '/2000', alike: 99 },
      { err: other, path: '/other', alike: 0 },
    ]);
    now = 60_000;
    failed(down, '/later');
    expect(lines.at(-1)).toEqual({ err: down, path: '/later', alike: 49 });
  });
});

describe('the detail of a 500', () => {
  test('keeps what went wrong and drops what is secret', () => {
    const error = new Error(
      'GET https://u:p@host:1/path/apikey?x=1 failed with Bearer abc.def and s3cret\n at y',
    );
    expect(publicDetail(error, ['s3cret', ''])).toBe(
      'Error: GET https://host:1 failed with Bearer *** and *** at y',
    );
  });

  test('is bounded, and says something of whatever is thrown', () => {
    expect(publicDetail(new Error('x'.repeat(5000)), []).length).toBeLessThan(310);
    expect(publicDetail('text', [])).toBe('an unknown failure');
  });
});

describe('prices', () => {
  const row = { mint: 'm', source: 'catalogue', read_at: '0', observed_at: null } as const;

  test.each([
    ['1', 6],
    ['1.5e2', 9],
    ['1e-7', 9],
    ['5e-324', 18],
    ['0', 6],
    ['123456789.987654321', 0],
    ['1e20', 0],
  ])('the rate of %s at %i decimals ranks exactly as the dollars that are served', (usd, decimals) => {
    const rate = rateOf('m', decimals, priceOf([{ ...row, usd }], 0));
    expect(rate).not.toBeNull();
    if (rate === null) return;
    for (const amount of [0n, 1n, 999_999n, 2n ** 64n - 1n, 2n ** 128n - 1n]) {
      const micro = (amount * rate.multiplier) / rate.divisor;
      const served = usdValue(amount, decimals, usd).replace('.', '');
      expect(BigInt(served)).toBe(micro);
      expect(2n ** 129n * rate.multiplier < 2n ** 256n).toBe(true);
    }
  });

  test.each(['-1', 'abc', '1e300', 'Infinity', ''])('a price of %j is none', (usd) => {
    expect(priceOf([{ ...row, usd }], 0).usd).toBeNull();
  });
});
