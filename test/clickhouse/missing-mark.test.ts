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

test('what many lack is looked for in the slots they are in, and not in all that is stored', async () => {
  const store = fresh();
  const ROWS = 100_000;
  const columns = "leftPad(toString(number), 88, 'x'), number";
  await store.command(`INSERT INTO transactions (signature, slot) SELECT ${columns} FROM numbers(${ROWS})`);
  // In the order of signatures each stands between two others.
  const cut = (at: number) => ({
    ...incomplete,
    ...{ signature: `${String(at * 100).padStart(87, 'x')}y`, slot: String(at) },
  });
  await store.insert(
    'incomplete_transactions',
    Array.from({ length: 900 }, (_, at) => cut(at)),
  );
  const read = async () => {
    const [row] = await stored.query<{ rows: string }>(
      "SELECT toString(value) AS rows FROM system.events WHERE event = 'SelectedRows'",
    );
    return Number(row?.rows);
  };
  const marks = [await missingMark(store)];
  await missingMark(store);
  const before = await read();
  expect([await missingMark(store)]).toEqual(marks);
  expect((await read()) - before).toBeLessThan(ROWS / 10);

  const { signature, block_time } = cut(7);
  for (const slot of ['8', '7']) {
    const placed = { tx_index: 0, has_index: 1, failed: 0 };
    await store.insert('transactions', [{ signature, slot, block_time, ...placed }]);
    marks.push(await missingMark(store));
  }
  expect(marks[1]).toBe(marks[0]);
  expect(marks[2]).not.toBe(marks[0]);
  // Of two readings of one signature one is kept there: it is whole in both slots all the same.
  await store.command('OPTIMIZE TABLE transactions FINAL');
  expect(await missingMark(store)).toBe(marks[2]);
  expect(await missingMark(fresh())).toBe(marks[2]);
});
