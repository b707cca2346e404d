import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createLatest } from '../../../api/latest/latest.ts';
import { watchStateAge } from '../../../api/serve.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { RetryableError } from '../../../runtime/errors.ts';
import { awaited } from '../../support/awaited.ts';
import { freshDatabase } from '../../support/database.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { appliedRow, key, policyRow } from '../support/rows.ts';

const LOST_MS = 6_000;
const LOOK_EVERY_MS = 50;

let store: Store;
let api: TestApi;
let isDown = false;
/** While not null, queries are taken and answered only once these are called. */
let hanging: (() => void)[] | null = null;
/** Time at which the test's clock stands; null while it goes on. */
let moment: number | null = null;
/** By how much the test's clock is ahead of the machine's. */
let ahead = 0;
const stop = new AbortController();

beforeAll(async () => {
  store = await freshDatabase();
  await store.insert('policies', [policyRow('coin', 'usd')]);
  await store.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
  const mortal: Store = {
    ...store,
    aside: () => mortal,
    query: async (sql, params) => {
      if (isDown) throw new Error('down');
      if (hanging === null) return store.query(sql, params);
      const given = hanging;
      return new Promise((_, reject) => given.push(() => reject(new Error('timed out'))));
    },
    lines: async (sql, params) => {
      if (isDown || hanging !== null) throw new Error('down');
      return store.lines(sql, params);
    },
  };
  const times = { everyMs: 20, idleMs: 60_000, lostMs: LOST_MS };
  const monotonic = () => moment ?? performance.now() + ahead;
  api = await startApi(store, {
    memory: { currentStore: () => mortal, times, monotonic, signal: stop.signal },
  });
});
/** However a test ends, the next one has a store that answers and a clock that goes on. */
afterEach(() => {
  isDown = false;
  answerAgain();
  letTimeGoOn();
});
afterAll(async () => {
  stop.abort();
  await api.close();
  await store.close();
});

function answerAgain(): void {
  const questions = hanging ?? [];
  hanging = null;
  for (const timeOut of questions) timeOut();
}
function letTimeGoOn(): void {
  if (moment !== null) ahead = moment - performance.now();
  moment = null;
}

test('while the store is down, answers from memory carry their Age and then become 500; /health still answers', async () => {
  const ask = () => api.get(`/coins/${key('coin')}`);
  const first = await awaited(async () => {
    const reply = await ask();
    expect([reply.status, reply.headers.get('age')]).toEqual([200, null]);
    return reply;
  });
  let now = performance.now();
  moment = now;
  await awaited(() => expect(api.latest.age()).toBe(0));
  isDown = true;
  const later = () => {
    now += 500;
    moment = now;
    return ask();
  };
  // Queries from before it was down may still be answered.
  const old = await awaited(async () => {
    const reply = await later();
    expect(reply.headers.get('age')).toMatch(/^[1-6]$/);
    return reply;
  });
  expect([old.status, old.text]).toEqual([200, first.text]);
  // What is served beside an agent's posts is as old.
  expect((await api.get(`/coins/${key('coin')}/posts`)).headers.get('age')).toMatch(/^[1-6]$/);
  await awaited(async () => expect((await later()).status).toBe(500), LOOK_EVERY_MS);
  expect((await api.get('/health')).status).toBe(200);
  isDown = false;
  letTimeGoOn();
  await awaited(async () => expect((await ask()).status).toBe(200), LOOK_EVERY_MS);
  expect((await ask()).text).toBe(first.text);
});

test('while the store hangs, requests fail after 6 s, /health still answers and the age is measured', async () => {
  const registry = new Registry();
  watchStateAge(api.latest, registry);
  const watched = async () =>
    (await registry.getSingleMetric('api_state_age_seconds')?.get())?.values[0]?.value ?? -1;
  const ask = () => api.get(`/coins/${key('coin')}`);
  expect((await ask()).status).toBe(200);
  hanging = [];
  // It is known that there is no other policy.
  expect((await api.get(`/coins/${key('other')}`)).status).toBe(404);
  const cold = ['/status', '/rankings', '/analytics', `/coins/${key('coin')}/activity`];
  const answers = Promise.all(cold.map((path) => api.get<{ detail: string }>(path)));
  expect((await api.get('/health')).status).toBe(200);
  for (const [at, { status, body }] of (await answers).entries())
    expect([status, body.detail], cold[at]).toEqual([
      500,
      'RetryableError: the store has not answered for 6 s',
    ]);
  await awaited(async () => expect((await ask()).status).toBe(500), LOOK_EVERY_MS);
  expect(await watched()).toBeGreaterThan(LOST_MS / 1000);
  answerAgain();
  await awaited(async () => expect((await api.get('/status')).status).toBe(200), LOOK_EVERY_MS);
  await awaited(async () => expect(await watched()).toBeLessThan(1), LOOK_EVERY_MS);
  expect((await ask()).status).toBe(200);
});

test('until the store is first reached, the age is measured from the start of the process', async () => {
  const registry = new Registry();
  let [now, serves] = [1_000, false];
  const latest = createLatest({
    currentStore: () => {
      if (!serves) throw new RetryableError('the database is not connected yet');
      return store;
    },
    clock: Date.now,
    monotonic: () => now,
    signal: stop.signal,
  });
  watchStateAge(latest, registry);
  const watched = async () =>
    (await registry.getSingleMetric('api_state_age_seconds')?.get())?.values[0]?.value;
  now += 40_000;
  expect(await watched()).toBe(40);
  serves = true;
  await latest.read((view) => view.state());
  expect(await watched()).toBe(0);
});
