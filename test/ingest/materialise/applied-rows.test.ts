import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AppliedRow } from '../../../clickhouse/progress-tables.ts';
import { createAppliedRows } from '../../../ingest/materialise/applied-rows.ts';

let inserts: number[][];
let fails: Error | null;
beforeEach(() => {
  vi.useFakeTimers();
  inserts = [];
  fails = null;
});
afterEach(() => {
  vi.useRealTimers();
});

const rowsOfTest = () =>
  createAppliedRows(async (rows) => {
    if (fails !== null) throw fails;
    inserts.push(rows.map(({ log_partition }) => log_partition));
  });
const row = (partition: number) => (at: number) =>
  ({ log_partition: partition, applied_at: String(at) }) as AppliedRow;

test('the rows of partitions that are written side by side are one insert', async () => {
  const rows = rowsOfTest();
  const [one, other] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  expect(inserts).toEqual([]);
  await Promise.all([first, other.applied(false, row(2))]);
  expect(inserts).toEqual([[1, 2]]);
});

test('a batch that came later holds nobody up, and one that failed no longer does', async () => {
  const rows = rowsOfTest();
  const [one, failing] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  rows.begin();
  failing.release();
  await first;
  expect(inserts).toEqual([[1]]);
});

test('nobody waits for longer than a quarter of a second', async () => {
  const rows = rowsOfTest();
  const [one] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  await vi.advanceTimersByTimeAsync(249);
  expect(inserts).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await first).toBe(true);
  expect(inserts).toEqual([[1]]);
});

test('slots that brought nothing wait for one that did, or for that time', async () => {
  const rows = rowsOfTest();
  const quiet = [1, 2].map((partition) => rows.begin().applied(true, row(partition)));
  expect(inserts).toEqual([]);
  await rows.begin().applied(false, row(3));
  await Promise.all(quiet);
  expect(inserts).toEqual([[1, 2, 3]]);
  const alone = rows.begin().applied(true, row(4));
  await vi.advanceTimersByTimeAsync(250);
  await alone;
  expect(inserts).toEqual([[1, 2, 3], [4]]);
});

test('a partition that was taken away meanwhile writes nothing', async () => {
  const rows = rowsOfTest();
  const [gone, kept] = [rows.begin(), rows.begin()];
  const results = [gone.applied(false, () => null), kept.applied(false, row(2))];
  expect(await Promise.all(results)).toEqual([false, true]);
  expect(inserts).toEqual([[2]]);
});

test('an insert that fails fails for each of its rows', async () => {
  const rows = rowsOfTest();
  fails = new Error('no');
  const [one, other] = [rows.begin(), rows.begin()];
  const results = await Promise.allSettled([one.applied(false, row(1)), other.applied(false, row(2))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
