import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTableFeed } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { CHANGES_KEPT_MS, createAnnouncer } from '../../../clickhouse/queries/progress/changes.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, policyRow } from '../support/rows.ts';

let store: Store;
let slot = 9_000n;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
  await write('1');
});
afterAll(() => store.close());

const policy = policyRow('coin', 'quote');

/** Writes without an applied marker: the position in the log is the owner's. */
async function write(tokens_burned: string): Promise<Changes> {
  slot += 1n;
  const rows = [{ ...policy, tokens_burned, slot: String(slot), version: String(slot << 64n) }];
  await store.insert('policies', rows);
  const changes: Changes = new Map();
  noteRows(changes, 'policies', rows);
  return changes;
}

function watched() {
  let now = 0;
  let wall = Date.now();
  let asked = 0;
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
  const feed = createTableFeed(one, monotonic, () => wall);
  const memory = createMemory({ store: one, feed, clock: Date.now, monotonic, maxBytes: 1_000_000 });
  const burnt = async () =>
    (await memory.read((view) => view.get('policy', policy.address as string)?.tokens_burned)).value;
  /** As a follower of the store does; while the machine sleeps the monotonic clock stands. */
  const pass = async (ms: number, slept = 0) => {
    now += ms;
    wall += ms + slept;
    await memory.turn();
  };
  return { burnt, pass, asked: () => asked };
}

test('changes announced by a replay are seen, though the position in the log does not move', async () => {
  const { burnt, pass } = watched();
  const announce = createAnnouncer(store);
  for (const tokens of ['2', '3']) {
    await burnt();
    await pass(50);
    await announce(await write(tokens));
    await pass(1_000);
    expect(await burnt()).toBe(tokens);
  }
});

test('after a pause longer than announcements are kept, memory is read anew', async () => {
  const { burnt, pass } = watched();
  await burnt();
  await write('4');
  await pass(CHANGES_KEPT_MS + 1);
  expect(await burnt()).toBe('4');
});

test.each([
  ['whose clock moved on by as long as announcements are kept, as after a sleep', '5', CHANGES_KEPT_MS],
  ['whose clock was put back by longer than announcements are kept', '6', -CHANGES_KEPT_MS - 2_000],
])('memory is also read anew by a follower %s', async (_, tokens, slept) => {
  const { burnt, pass } = watched();
  await burnt();
  await write(tokens);
  await pass(1_000, slept);
  expect(await burnt()).toBe(tokens);
});

test('while nothing changes and turns go on, memory is not read again, even if the clock is put back', async () => {
  const { burnt, pass, asked } = watched();
  await burnt();
  await pass(1_000);
  const before = asked();
  for (let passed = 0; passed < 3 * CHANGES_KEPT_MS; passed += CHANGES_KEPT_MS / 4)
    await pass(CHANGES_KEPT_MS / 4, passed === 0 ? -CHANGES_KEPT_MS / 2 : 0);
  expect(await burnt()).toBe('6');
  expect(asked()).toBe(before);
});
