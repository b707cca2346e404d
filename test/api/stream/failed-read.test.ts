import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { appliedRow, eventRow, mintRow, policyRow, signature } from '../support/rows.ts';
import { listenTo } from './support/listen.ts';

/** In the query for events themselves, and not in those for their identities. */
const OF_EVENTS = 'summary, slot, signature, position';

let store: Store;
let api: TestApi;
/** How many queries for events will fail. */
let fails = 0;
let failed = 0;

beforeAll(async () => {
  store = await embeddedDatabase();
  const failing: Store = {
    ...store,
    aside: () => failing,
    query: async (sql, params) => {
      if (fails > 0 && sql.includes(OF_EVENTS)) {
        fails -= 1;
        failed += 1;
        throw new Error('reset by peer');
      }
      return store.query(sql, params);
    },
  };
  api = await startApi(failing);
  await api.insert('policies', [policyRow('one', 'usd')]);
  await api.insert('mints', [mintRow('usd', 6)]);
  await apply(1000);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

async function apply(slot: number): Promise<void> {
  const at = { slot: String(slot), log_offset: String(slot) };
  await api.insert('applied', [appliedRow('transactions', 0, at), appliedRow('accounts', 0, at)]);
}

test('events whose query failed are sent once it succeeds', async () => {
  const listener = await listenTo(`${api.url}/stream/activity`);
  await listener.firstId();
  fails = 2;
  for (const slot of [1001, 1002]) {
    const name = `at ${slot}`;
    const change = { signature: signature(name), slot: String(slot), summary: `{"n":"${name}"}` };
    await api.insert('events', [eventRow('one', 'Routed', slot, change)]);
    await apply(slot);
  }
  await listener.until(2);
  expect(listener.heard.map(({ event, data }) => [event, data.summary?.n])).toEqual([
    ['activity', 'at 1001'],
    ['activity', 'at 1002'],
  ]);
  expect(failed).toBe(2);
  listener.close();
  await listener.ended;
});
