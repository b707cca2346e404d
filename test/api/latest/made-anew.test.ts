import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTableFeed } from '../../../api/latest/feed.ts';
import { createMemory, type Memory } from '../../../api/latest/memory.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { CHANGES_KEPT_MS, createAnnouncer } from '../../../clickhouse/queries/progress/changes.ts';
import type { Topic } from '../../../ingest/log/port.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, originRow, policyRow } from '../support/rows.ts';

const COIN = policyRow('coin', 'quote');

let store: Store;
let memory: Memory;
let asked: number;
let now: number;

beforeEach(async () => {
  store = await embeddedDatabase('several');
  [asked, now] = [0, 0];
  await store.insert('policies', [COIN]);
  await applied({ accounts: 10, transactions: 10 });
  const note = (sql: string) => {
    if (sql.includes('FROM policies')) asked += 1;
  };
  const query: Store['query'] = (sql, params) => {
    note(sql);
    return store.query(sql, params);
  };
  const lines: Store['lines'] = (sql, params) => {
    note(sql);
    return store.lines(sql, params);
  };
  const one: Store = { ...store, query, lines };
  const monotonic = () => now;
  const feed = createTableFeed(one, monotonic, Date.now);
  memory = createMemory({ store: one, feed, clock: Date.now, monotonic, maxBytes: 1_000_000 });
  expect(await isThere()).toBe(true);
});
afterEach(() => store.close());

const isThere = async () =>
  (await memory.read((view) => view.get('policy', COIN.address as string) !== undefined)).value;

async function applied(offsets: Partial<Record<Topic, number>>): Promise<void> {
  const rows = Object.entries(offsets).map(([topic, offset]) =>
    appliedRow(topic as 'accounts', 0, { log_offset: String(offset) }),
  );
  await store.insert('applied', rows);
}

/** A process that did not write to the tables before applies a batch, of which memory then takes notice. */
async function appliedByAnother(origin: number, offsets: Parameters<typeof applied>[0]): Promise<void> {
  await store.insert('origins', [originRow(origin, 'later')]);
  await createAnnouncer(store)(new Map([['origins', new Set([String(origin)])]]));
  await applied(offsets);
  await turn();
}

async function turn(): Promise<void> {
  now += 1_000;
  await memory.turn();
}

const empty = async (...tables: string[]) => {
  for (const table of tables) await store.command(`TRUNCATE TABLE ${table}`);
};

test.each([
  ['lost and made anew', { accounts: 3 }],
  ['lost, where readings go on from the newest', { readings: 5_000 }],
  ['restored from an older backup', { accounts: 9, transactions: 10 }],
])('nothing is kept of a database that was %s', async (_, offsets) => {
  await empty('policies', 'applied', 'changes');
  await appliedByAnother(2, offsets);
  expect(await isThere()).toBe(false);
});

test('of a database that is restored table by table, the tables that come last are seen too', async () => {
  await empty('applied', 'changes');
  await turn();
  await empty('policies');
  await turn();
  expect(await isThere()).toBe(false);
  await applied({ accounts: 9, transactions: 10 });
  await turn();
  await store.insert('policies', [COIN]);
  await turn();
  await turn();
  expect(await isThere()).toBe(true);
});

test('a database that was made anew is read anew a few times and then no more, however often it is written to', async () => {
  await empty('policies', 'applied', 'changes');
  const isReadAnew: boolean[] = [];
  for (let offset = 0; offset < 30; offset += 1) {
    const before = asked;
    await appliedByAnother(offset, { accounts: offset });
    expect(await isThere()).toBe(false);
    isReadAnew.push(asked > before);
    now += CHANGES_KEPT_MS / 2;
  }
  expect(isReadAnew.slice(0, 2)).toEqual([true, true]);
  expect(isReadAnew.slice(-10)).not.toContain(true);
});

test('a marker that falls again and again has memory read anew seldom', async () => {
  let readAnew = 0;
  for (let turns = 0; turns < 200; turns += 1) {
    await empty('applied');
    await applied({ accounts: turns % 2 === 0 ? 9 : 10 });
    const before = asked;
    now += 50;
    await memory.turn();
    await isThere();
    if (asked > before) readAnew += 1;
  }
  expect(readAnew).toBeGreaterThan(1);
  expect(readAnew).toBeLessThan(10);
});

test('nothing is read anew where a batch is read again and cut shorter than before', async () => {
  const before = asked;
  await appliedByAnother(2, { accounts: 4 });
  await appliedByAnother(3, { accounts: 10 });
  expect(await isThere()).toBe(true);
  expect(asked).toBe(before);
});
