import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHandOver, createTableFeed, type HandOver } from '../../../api/latest/feed.ts';
import { createLatest, type Latest } from '../../../api/latest/latest.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { View } from '../../../api/latest/view.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { createAnnouncer } from '../../../clickhouse/queries/progress/changes.ts';
import { awaited } from '../../support/awaited.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, key, policyRow } from '../support/rows.ts';

const IDLE_MS = 600_000;

let store: Store;
let slot = 9_000n;
beforeAll(async () => {
  store = await embeddedDatabase();
  await store.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
});
afterAll(() => store.close());

let stop: AbortController;
let fails: boolean;
let failed: number;
let now: number;
let latest: Latest;
let handOver: HandOver;
beforeEach(() => {
  stop = new AbortController();
  handOver = createHandOver();
  [fails, failed, now] = [false, 0, 0];
  const mortal: Store = {
    ...store,
    query: async (sql, params) => {
      if (fails && sql.includes('FROM applied AS a')) throw new Error('reset by peer');
      return store.query(sql, params);
    },
  };
  latest = createLatest({
    ...{ currentStore: () => mortal, handOver, clock: Date.now, monotonic: () => now },
    ...{ signal: stop.signal, onError: () => (failed += 1), times: { everyMs: 5, idleMs: IDLE_MS } },
  });
});
afterEach(() => stop.abort());

const policy = policyRow('coin', 'quote');
const burnt = (view: View) => view.get('policy', policy.address as string)?.tokens_burned;
/** Reads as a request does. */
const served = async () => (latest.readNow(burnt) ?? (await latest.read(burnt))).value;

async function write(tokens_burned: string): Promise<Changes> {
  slot += 1n;
  const rows = [{ ...policy, tokens_burned, slot: String(slot), version: String(slot << 64n) }];
  await store.insert('policies', rows);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', rows);
  return changes;
}

/** Applies a batch after which none comes for long. */
async function apply(tokens_burned: string): Promise<void> {
  handOver.note(await write(tokens_burned));
  handOver.applied();
}

test('a failed turn is retried while somebody asks, though no further batch arrives', async () => {
  await apply('1');
  expect(await served()).toBe('1');
  fails = true;
  await apply('2');
  await awaited(() => expect(failed).toBeGreaterThan(0));
  expect(await served()).toBe('1');
  fails = false;
  await awaited(async () => expect(await served()).toBe('2'));
});

test('the first reader after an idle time waits for what an earlier turn failed to read', async () => {
  await apply('3');
  expect(await served()).toBe('3');
  fails = true;
  await apply('4');
  await awaited(() => expect(failed).toBeGreaterThan(0));
  now += 2 * IDLE_MS;
  fails = false;
  expect(await served()).toBe('4');
});

test('if the turn for the first reader after an idle time fails, a later turn reads the changes', async () => {
  await apply('5');
  expect(await served()).toBe('5');
  now += 2 * IDLE_MS;
  await apply('6');
  fails = true;
  expect(await served()).toBe('5');
  fails = false;
  await awaited(async () => expect(await served()).toBe('6'));
});

test('changes that a turn took before it failed on a sum are applied by a later turn', async () => {
  let isAway = false;
  const mortal: Store = {
    ...store,
    query: async (sql, params) => {
      // Gaps are read after what has changed.
      if (isAway && sql.includes('FROM gaps')) throw new Error('reset by peer');
      return store.query(sql, params);
    },
  };
  const monotonic = () => now;
  const feed = createTableFeed(mortal, monotonic, Date.now);
  const memory = createMemory({ store: mortal, feed, clock: Date.now, monotonic, maxBytes: 1_000_000 });
  await write('7');
  expect((await memory.read(burnt)).value).toBe('7');
  // Announced before its position is applied.
  await createAnnouncer(store)(await write('8'));
  isAway = true;
  await expect(memory.read((view) => view.get('totals', key('coin')))).rejects.toThrow('reset by peer');
  isAway = false;
  await memory.read((view) => view.get('tokenAccount', key('another')));
  await store.insert('applied', [appliedRow('accounts', 0, { slot: String(slot), log_offset: '11' })]);
  await memory.turn();
  expect((await memory.read(burnt)).value).toBe('8');
});
