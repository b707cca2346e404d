import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { gapStates, missingMark } from '../../clickhouse/queries/progress/index-state.ts';
import { openGaps } from '../../clickhouse/queries/progress/stream-store.ts';
import { gapRow, key, signature, TIME } from '../api/support/rows.ts';
import { embeddedDatabase } from '../support/embedded.ts';

let stored: Store;
let asked: string[] = [];
beforeAll(async () => {
  stored = await embeddedDatabase('several');
});
afterAll(() => stored.close());

/** A store as a new process has it, for which nothing is cached yet; its queries are recorded. */
const fresh = (): Store => ({
  ...stored,
  query: (sql, params) => {
    asked.push(sql);
    return stored.query(sql, params);
  },
});
const rowsRead = async () => {
  const [row] = await stored.query<{ rows: string }>(
    "SELECT toString(value) AS rows FROM system.events WHERE event = 'SelectedRows'",
  );
  return Number(row?.rows);
};
const incomplete = {
  ...{ signature: signature('cut'), slot: '5', block_time: TIME },
  ...{ reason: 'cut', policies: [key('p')] },
};

test('while nothing was ever incomplete, the mark of missing data follows gaps and reads no transactions or events', async () => {
  const store = fresh();
  asked = [];
  const marks = [await missingMark(store)];
  for (const change of [{}, { log_offset: '2', closed: 1 }]) {
    await store.insert('gaps', [gapRow('999', { from_slot: '10', ...change })]);
    marks.push(await missingMark(store));
  }
  expect(new Set(marks).size).toBe(3);
  const before = asked.length;
  expect(await missingMark(store)).toBe(marks[2]);
  expect(asked.length).toBe(before + 1);
  expect(asked.filter((sql) => sql.includes('FROM transactions') || sql.includes('events_by_slot'))).toEqual(
    [],
  );
});

test('an incomplete transaction changes the mark, reading it whole restores it, also for a new process', async () => {
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

test('an event without a time changes the mark until its time is known and in the sums', async () => {
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

test('checking many incomplete transactions reads the slots they are in, not the whole table', async () => {
  const store = fresh();
  const ROWS = 100_000;
  const columns = "leftPad(toString(number), 88, 'x'), number";
  await store.command(`INSERT INTO transactions (signature, slot) SELECT ${columns} FROM numbers(${ROWS})`);
  // Sorted by signature, each lies between two that are stored.
  const cut = (at: number) => ({
    ...incomplete,
    ...{ signature: `${String(at * 100).padStart(87, 'x')}y`, slot: String(at) },
  });
  await store.insert(
    'incomplete_transactions',
    Array.from({ length: 900 }, (_, at) => cut(at)),
  );
  const marks = [await missingMark(store)];
  await missingMark(store);
  const before = await rowsRead();
  expect([await missingMark(store)]).toEqual(marks);
  expect((await rowsRead()) - before).toBeLessThan(ROWS / 10);

  const { signature, block_time } = cut(7);
  for (const slot of ['8', '7']) {
    const placed = { tx_index: 0, has_index: 1, failed: 0 };
    await store.insert('transactions', [{ signature, slot, block_time, ...placed }]);
    marks.push(await missingMark(store));
  }
  expect(marks[1]).toBe(marks[0]);
  expect(marks[2]).not.toBe(marks[0]);
  // Of two readings of one signature the engine keeps one, and both slots still count as complete.
  await store.command('OPTIMIZE TABLE transactions FINAL');
  expect(await missingMark(store)).toBe(marks[2]);
  expect(await missingMark(fresh())).toBe(marks[2]);
});

/** What an API and ingestion ask about gaps, and how many rows the API's query reads. */
async function gapsNow(store: Store) {
  const before = await rowsRead();
  const mark = await missingMark(store);
  const states = await gapStates(store);
  const rows = (await rowsRead()) - before;
  return { told: { mark, states, open: await openGaps(store) }, rows };
}

test('closed gaps are read again only after a change, and every change is seen by the next query', async () => {
  const store = fresh();
  const GAPS = 60_000;
  await store.command(
    `INSERT INTO gaps (from_slot, log_partition, log_offset, to_slot, closed)
     SELECT 1000 + number * 10, 0, number, 1005 + number * 10, 1 FROM numbers(${GAPS})`,
  );
  // Parts are merged only when the test says so: a merge makes a new part, for which all is read again.
  await store.command('SYSTEM STOP MERGES gaps');
  const first = await gapsNow(store);
  expect(first.rows).toBeGreaterThanOrEqual(2 * GAPS);
  const again = await gapsNow(store);
  expect(again.told).toEqual(first.told);
  expect(again.rows).toBeLessThan(GAPS / 10);

  const row = (offset: number, change: object) => ({
    ...gapRow('999', { from_slot: '2000', log_offset: String(GAPS + offset) }),
    ...change,
  });
  const seen = [first.told];
  for (const change of [
    () => store.insert('gaps', [row(1, { closed: 0, to_slot: '2009' })]),
    () => store.insert('gaps', [row(2, { closed: 0, to_slot: '2007' })]),
    () => store.insert('gap_places', [{ from_slot: '2000', log_partition: 0, log_offset: 9, unread: 'x' }]),
    () => store.insert('gaps', [row(3, { closed: 1, to_slot: '2005' })]),
  ]) {
    await change();
    const { told } = await gapsNow(store);
    // The same as for a process that asks for the first time.
    expect(told).toEqual((await gapsNow(fresh())).told);
    expect(told).not.toEqual(seen.at(-1));
    seen.push(told);
  }
  expect(seen.map(({ open }) => open.map(({ toSlot }) => toSlot))).toEqual([
    [],
    [2009n],
    [2007n],
    [2007n],
    [],
  ]);
  // A gap's progress and its obstacle are not part of the mark.
  expect(new Set(seen.slice(1, 4).map(({ mark }) => mark)).size).toBe(1);
  expect(seen[1]?.mark).not.toBe(seen[0]?.mark);
  expect(seen[4]?.mark).toBe(seen[0]?.mark);

  // The same rows in other parts.
  await store.command('SYSTEM START MERGES gaps');
  await store.command('OPTIMIZE TABLE gaps FINAL');
  expect((await gapsNow(store)).told).toEqual(seen[4]);
  expect((await gapsNow(store)).rows).toBeLessThan(GAPS / 10);
});

test('on distributed tables parts identify nothing: every query reads all gaps, and sees each change', async () => {
  const store = fresh();
  for (const table of ['gaps', 'gap_places']) {
    await store.command(`RENAME TABLE ${table} TO ${table}_local`);
    await store.command(
      `CREATE TABLE ${table} AS remote('127.0.0.1', '${stored.database}', '${table}_local', cityHash64(from_slot))`,
    );
  }
  const before = await gapsNow(store);
  expect(before.rows).toBeGreaterThan(60_000);
  expect((await gapsNow(store)).rows).toBeGreaterThan(60_000);
  await store.insert('gaps_local', [
    gapRow('999', { from_slot: '2000', log_offset: '99999', to_slot: '2009' }),
  ]);
  const { told } = await gapsNow(store);
  expect(told.mark).not.toBe(before.told.mark);
  expect(told.open).toHaveLength(1);
});
