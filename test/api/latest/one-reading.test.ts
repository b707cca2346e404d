import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { View } from '../../../api/latest/view.ts';
import { rankingPage } from '../../../api/rankings/rankings.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { Order } from '../../../schemas/responses/rankings.ts';
import { awaited } from '../../support/awaited.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { SETTINGS } from '../support/api.ts';
import { appliedRow, gapRow, key, mintRow, policyRow } from '../support/rows.ts';

const NAMES = ['a', 'b', 'c'];
/** Each reverses the order. */
const PROFITS = [
  ['10', '20', '30'],
  ['60', '50', '40'],
  ['70', '80', '90'],
  ['99', '98', '97'],
];

let stored: Store;
beforeAll(async () => {
  stored = await embeddedDatabase('several');
  await stored.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await stored.insert('mints', [mintRow('usd', 6), ...NAMES.map((name) => mintRow(name, 6))]);
});
afterAll(() => stored.close());

const orders = PROFITS.map((all) => all.toSorted((one, other) => Number(other) - Number(one)).join());
const profitsBy = (order: Order) => (view: View) =>
  rankingPage(view, SETTINGS, new URLSearchParams({ sort: 'profit', quote: key('usd'), order }))
    .items.map(({ profit }) => profit.value)
    .join();
const profits = profitsBy('desc');

let slot = 9_000n;
/** Writes without announcing the change. */
async function write(amounts: readonly string[] | undefined): Promise<Changes> {
  slot += 1n;
  const state = { slot: String(slot), version: String(slot << 64n) };
  const rows = NAMES.map((name, of) =>
    policyRow(name, 'usd', { profit_swept: amounts?.[of] ?? '0', ...state }),
  );
  const changes: Changes = new Map();
  await stored.insert('policies', rows);
  noteRows(changes, 'policies', rows);
  return changes;
}

/** @param query every query of the store: slow ones have no connections of their own here */
function memoryOf(query: Store['query'], mostRanked?: number, monotonic = () => performance.now()) {
  const handOver = createHandOver();
  const { aside: _, ...store } = stored;
  const memory = createMemory({
    ...{ store: { ...store, query }, feed: handOver, maxBytes: 10_000_000, mostRanked },
    ...{ clock: Date.now, monotonic },
  });
  return { memory, handOver };
}

test('a ranking page takes its order and its figures from one reading, at every moment of a turn', async () => {
  const { memory, handOver } = memoryOf(stored.query);
  const seen = new Set<string>();
  let looks = true;
  /** Looks between any two steps of what goes on, and where all of it waits. */
  const look = async () => {
    for (let last = false; !last; ) {
      last = !looks;
      for (let steps = 0; steps < 50; steps += 1) {
        const made = memory.readNow(profits);
        if (made !== null) seen.add(made.value);
        await null;
      }
      await new Promise(setImmediate);
    }
  };
  const looking = look();
  try {
    for (const [at, amounts] of PROFITS.entries()) {
      handOver.note(await write(amounts));
      await memory.turn();
      expect((await memory.read(profits)).value).toBe(orders[at]);
    }
  } finally {
    looks = false;
    await looking;
  }
  expect([...seen]).toEqual(orders);
});

test('a page ordered by the engine takes order and figures from one reading, whichever is read first', async () => {
  let behindOrder = async () => {};
  const query: Store['query'] = async (sql, params) => {
    const rows = await stored.query<never>(sql, params);
    if (sql.includes('rank_key')) await behindOrder();
    return rows;
  };
  const { memory, handOver } = memoryOf(query, 0);
  handOver.note(await write(PROFITS[0]));
  expect((await memory.read(profits)).value).toBe(orders[0]);

  // The figures change after the order was read and before it is used.
  const before = await write(PROFITS[1]);
  behindOrder = async () => {
    behindOrder = async () => {};
    handOver.note(await write(PROFITS[2]));
    await memory.turn();
  };
  handOver.note(before);
  await memory.turn();
  expect((await memory.read(profits)).value).toBe(orders[2]);

  // The engine ranks by changes of which memory is notified only later. This end of the order was not asked for yet.
  const changes = await write(PROFITS[3]);
  const told = Promise.withResolvers<void>();
  behindOrder = async () => told.resolve();
  const answer = memory.read(profitsBy('asc'));
  await told.promise;
  handOver.note(changes);
  expect((await answer).value).toBe(orders[3]?.split(',').reverse().join());
});

test('sums wait until a batch that changed what is missing is applied', async () => {
  let marks = 0;
  const query: Store['query'] = (sql, params) => {
    if (sql.includes('FROM undated_events LIMIT 1')) marks += 1;
    return stored.query(sql, params);
  };
  // The clock stands, so that no read times out.
  const { memory, handOver } = memoryOf(query, undefined, () => 0);
  handOver.applied();
  await memory.turn();
  await stored.insert('gaps', [gapRow('1990')]);
  const answer = memory.read((view) => [view.single('keeperOfDay'), view.state().openGaps] as const);
  // More often than an answer is retried where there is nothing to wait for.
  await Promise.race([answer, awaited(() => expect(marks).toBeGreaterThan(25))]);
  handOver.applied();
  expect((await answer).value[1]).toHaveLength(1);
});
