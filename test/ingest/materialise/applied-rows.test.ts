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

test('rows of partitions that are written at the same time go into one insert', async () => {
  const rows = rowsOfTest();
  const [one, other] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  expect(inserts).toEqual([]);
  await Promise.all([first, other.applied(false, row(2))]);
  expect(inserts).toEqual([[1, 2]]);
});

test('a row waits neither for a batch that began later nor for one that failed', async () => {
  const rows = rowsOfTest();
  const [one, failing] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  rows.begin();
  failing.release();
  await first;
  expect(inserts).toEqual([[1]]);
});

test('a row waits for other batches for a quarter of a second at most', async () => {
  const rows = rowsOfTest();
  const [one] = [rows.begin(), rows.begin()];
  const first = one.applied(false, row(1));
  await vi.advanceTimersByTimeAsync(249);
  expect(inserts).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(await first).toBe(true);
  expect(inserts).toEqual([[1]]);
});

test('a row that no reader waits for is inserted with the next other row, or after a quarter of a second', async () => {
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

test('a partition that was taken away meanwhile writes no row, the others do', async () => {
  const rows = rowsOfTest();
  const [gone, kept] = [rows.begin(), rows.begin()];
  const results = [gone.applied(false, () => null), kept.applied(false, row(2))];
  expect(await Promise.all(results)).toEqual([false, true]);
  expect(inserts).toEqual([[2]]);
});

test('a failed insert rejects every row in it', async () => {
  const rows = rowsOfTest();
  fails = new Error('no');
  const [one, other] = [rows.begin(), rows.begin()];
  const results = await Promise.allSettled([one.applied(false, row(1)), other.applied(false, row(2))]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
