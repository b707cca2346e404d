import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { freshDatabase } from '../support/database.ts';
import { startApi, type TestApi } from './support/api.ts';
import { appliedRow, key, policyRow } from './support/rows.ts';

const WAIT = { timeout: 30_000, interval: 5 };
const LOST_MS = 1_500;

let store: Store;
let api: TestApi;
let isDown = false;
const stop = new AbortController();

beforeAll(async () => {
  store = await freshDatabase();
  await store.insert('policies', [policyRow('coin', 'usd')]);
  await store.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
  const mortal: Store = {
    ...store,
    query: (sql, params) => (isDown ? Promise.reject(new Error('down')) : store.query(sql, params)),
  };
  const times = { everyMs: 5, idleMs: 60_000, lostMs: LOST_MS };
  api = await startApi(store, { memory: { currentStore: () => mortal, times, signal: stop.signal } });
});
afterAll(async () => {
  stop.abort();
  await api.close();
  await store.close();
});

test('while the store is silent an answer from memory says how old it is, then there is none; health answers', async () => {
  const ask = () => api.get(`/coins/${key('coin')}`);
  const first = await ask();
  expect([first.status, first.headers.get('age')]).toEqual([200, null]);
  isDown = true;
  await vi.waitFor(async () => expect((await ask()).headers.get('age')).toBe('1'), WAIT);
  await vi.waitFor(async () => expect((await ask()).status).toBe(500), WAIT);
  expect((await api.get('/health')).status).toBe(200);
  isDown = false;
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), WAIT);
  expect((await ask()).text).toBe(first.text);
});
