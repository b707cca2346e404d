import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { coalescing } from '../../clickhouse/coalesce.ts';

/** A store that notes its inserts; the test ends each of them. */
function watched() {
  const inserts: { table: string; rows: readonly object[]; end: PromiseWithResolvers<void> }[] = [];
  const insert: Store['insert'] = (table, rows) => {
    const end = Promise.withResolvers<void>();
    inserts.push({ table, rows, end });
    return end.promise;
  };
  return { inserts, store: coalescing({ insert } as Store) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('inserts that arrive while one is running are combined into the next, in order', async () => {
  const { inserts, store } = watched();
  const first = store.insert('events', [{ a: 1 }]);
  await settled();
  const second = store.insert('events', [{ a: 2 }, { a: 3 }]);
  const third = store.insert('events', [{ a: 4 }]);
  await settled();
  expect(inserts.map(({ rows }) => rows)).toEqual([[{ a: 1 }]]);
  inserts[0]?.end.resolve();
  await first;
  await settled();
  expect(inserts.map(({ rows }) => rows)).toEqual([[{ a: 1 }], [{ a: 2 }, { a: 3 }, { a: 4 }]]);
  inserts[1]?.end.resolve();
  await Promise.all([second, third]);
});

test('inserts into different tables do not wait for each other', async () => {
  const { inserts, store } = watched();
  void store.insert('events', [{}]);
  void store.insert('mints', [{}]);
  await settled();
  expect(inserts.map(({ table }) => table)).toEqual(['events', 'mints']);
});

test('a failed insert rejects only the calls whose rows were in it', async () => {
  const { inserts, store } = watched();
  const first = store.insert('events', [{ a: 1 }]);
  await settled();
  const second = store.insert('events', [{ a: 2 }]);
  inserts[0]?.end.reject(new Error('no'));
  await expect(first).rejects.toThrow('no');
  await settled();
  inserts[1]?.end.resolve();
  await expect(second).resolves.toBeUndefined();
});

test('when the engine refuses a combined insert, each call is inserted separately and only the bad one fails', async () => {
  const { inserts, store } = watched();
  const good = store.insert('events', [{ a: 1 }]);
  const bad = store.insert('events', [{ b: 1 }]);
  await settled();
  const refusal = new ClickHouseError({ message: 'no such column', code: '117', type: 'INCORRECT_DATA' });
  inserts[0]?.end.reject(refusal);
  await settled();
  inserts[1]?.end.resolve();
  await settled();
  inserts[2]?.end.reject(refusal);
  await expect(good).resolves.toBeUndefined();
  await expect(bad).rejects.toThrow('no such column');
  expect(inserts.map(({ rows }) => rows)).toEqual([[{ a: 1 }, { b: 1 }], [{ a: 1 }], [{ b: 1 }]]);
});

test('the rows of a combined insert are bounded, and a list over the bound is inserted alone', async () => {
  const { inserts, store } = watched();
  const rows = (count: number) => Array.from({ length: count }, () => ({}));
  const all = [1, 15_000, 15_000, 50_000, 1].map((count) => store.insert('events', rows(count)));
  for (let at = 0; at < 4; at += 1) {
    await settled();
    inserts[at]?.end.resolve();
  }
  await Promise.all(all);
  expect(inserts.map((one) => one.rows.length)).toEqual([15_001, 15_000, 50_000, 1]);
});
