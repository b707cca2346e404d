import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory, type Memory } from '../../../api/latest/memory.ts';
import { rankingPage } from '../../../api/rankings/rankings.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { freshDatabase } from '../../support/database.ts';
import { SETTINGS } from '../support/api.ts';
import { appliedRow, key, mintRow, policyRow } from '../support/rows.ts';

const NAMES = ['a', 'b', 'c'];
/** The order turns round with each of them. */
const PROFITS = [
  ['10', '20', '30'],
  ['60', '50', '40'],
  ['70', '80', '90'],
  ['99', '98', '97'],
];

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await store.insert('mints', [mintRow('usd', 6), ...NAMES.map((name) => mintRow(name, 6))]);
});
afterAll(() => store.close());

const QUESTION = new URLSearchParams({ sort: 'profit', quote: key('usd') });

test('the order of a ranking page and its figures are one reading, also while both are read anew', async () => {
  let lookAtIt = () => {};
  const handOver = createHandOver();
  const query: Store['query'] = async (sql, params) => {
    const rows = await store.query<never>(sql, params);
    lookAtIt();
    return rows;
  };
  const memory: Memory = createMemory({
    ...{ store: { ...store, query }, feed: handOver, maxBytes: 10_000_000 },
    ...{ clock: Date.now, monotonic: () => performance.now() },
  });
  const profits = (page: ReturnType<typeof rankingPage>) => page.items.map(({ profit }) => profit.value);
  const orders = PROFITS.map((all) => all.toSorted((one, other) => Number(other) - Number(one)).join());
  let seen = 0;
  const mixed: string[] = [];
  lookAtIt = () => {
    const made = memory.readNow((view) => profits(rankingPage(view, SETTINGS, QUESTION)));
    if (made === null) return;
    seen += 1;
    if (!orders.includes(made.value.join())) mixed.push(made.value.join());
  };
  for (const [at, amounts] of PROFITS.entries()) {
    const slot = BigInt(9_000 + at);
    const state = { slot: String(slot), version: String(slot << 64n) };
    const rows = NAMES.map((name, of) => policyRow(name, 'usd', { profit_swept: amounts[of], ...state }));
    const changes: Changes = new Map();
    await store.insert('policies', rows);
    noteRows(changes, 'policies', rows);
    handOver.note(changes);
    await memory.turn();
    const { value } = await memory.read((view) => profits(rankingPage(view, SETTINGS, QUESTION)));
    expect(value.join()).toBe(orders[at]);
  }
  expect(mixed).toEqual([]);
  // What stood before was answered while the turns went on.
  expect(seen).toBeGreaterThan(0);
});
