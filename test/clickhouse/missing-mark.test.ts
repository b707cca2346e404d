import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { missingMark } from '../../clickhouse/queries/progress/index-state.ts';
import { gapRow, key, signature, TIME } from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';

let stored: Store;
let asked: string[] = [];
beforeAll(async () => {
  stored = await embeddedDatabase('several');
});
afterAll(() => stored.close());

/** As a process that knows nothing of the store yet. */
const fresh = (): Store => ({
  ...stored,
  query: (sql, params) => {
    asked.push(sql);
    return stored.query(sql, params);
  },
});
const incomplete = {
  ...{ signature: signature('cut'), slot: '5', block_time: TIME },
  ...{ reason: 'cut', policies: [key('p')] },
};

test('as long as nothing was ever incomplete, gaps are all that is looked at', async () => {
  const store = fresh();
  asked = [];
  const marks = [await missingMark(store)];
  for (const change of [{}, { log_offset: '2', closed: 1 }]) {
    await store.insert('gaps', [gapRow('999', { from_slot: '10', ...change })]);
    marks.push(await missingMark(store));
  }
  expect(new Set(marks).size).toBe(3);
  expect(asked.length).toBe(3);
  expect(asked.filter((sql) => sql.includes('FROM transactions') || sql.includes('events_by_slot'))).toEqual(
    [],
  );
});

test('what became incomplete changes the mark, and what is whole again says what stood before, also to who knows nothing', async () => {
  const store = fresh();
  const before = await missingMark(store);
  await store.insert('incomplete_transactions', [incomplete]);
  const cut = await missingMark(store);
  expect(cut).not.toBe(before);
  expect(await missingMark(fresh())).toBe(cut);
  const whole = { signature: incomplete.signature, block_time: TIME, tx_index: 0, has_index: 1, failed: 0 };
  await store.insert('transactions', [{ ...whole, slot: '4' }]);
  expect(await missingMark(store)).toBe(cut);
  await store.insert('transactions', [{ ...whole, slot: '5' }]);
  expect(await missingMark(store)).toBe(before);
  expect(await missingMark(fresh())).toBe(before);
});

test('an event without a time changes it until the time is told and summed up', async () => {
  const store = fresh();
  const before = await missingMark(store);
  const place = { slot: '6', signature: signature('late'), position: 0 };
  const event = { ...place, mint: key('m'), kind: 'Routed', policy: key('p'), tx_index: 0, has_index: 1 };
  await store.insert('events', [{ ...event, block_time: null }]);
  await store.insert('undated_events', [place]);
  const undated = await missingMark(store);
  expect(undated).not.toBe(before);
  await store.insert('events', [{ ...event, block_time: TIME }]);
  expect([before, undated]).not.toContain(await missingMark(store));
  await store.insert('dated_events', [place]);
  expect(await missingMark(store)).toBe(before);
});
