import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import type { View } from '../../../api/latest/view.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { awaited } from '../../support/awaited.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow } from '../support/rows.ts';

const IDLE_MS = 600_000;

let store: Store;
let slot = 2_000;
beforeAll(async () => {
  store = await embeddedDatabase();
});
afterAll(() => store.close());

/** Queries of a turn: how far the index is, before it takes what was handed over, and what is missing, after that. */
const PARTS = { before: 'FROM applied AS a', behind: 'FROM undated_events LIMIT 1' };
const applied = (view: View) => view.state().applied.slot;

/** A memory whose next answer to one of PARTS can be held back after the store has given it. */
function open() {
  let [now, holds] = [0, ''];
  const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const handOver = createHandOver();
  const slow: Store = {
    ...store,
    query: async (sql, params) => {
      const rows = await store.query<never>(sql, params);
      if (holds === '' || !sql.includes(holds)) return rows;
      holds = '';
      reached.resolve();
      await held.promise;
      return rows;
    },
  };
  const latest = createLatest({
    ...{ currentStore: () => slow, handOver, clock: Date.now, monotonic: () => now },
    times: { idleMs: IDLE_MS },
  });
  return {
    ...{ latest, handOver, reached: reached.promise, letGo: held.resolve },
    hold: (part: string) => {
      holds = part;
    },
    /** Passes a time in which nobody asks. */
    pass: () => {
      now += 2 * IDLE_MS;
    },
  };
}

async function write(): Promise<string> {
  slot += 1;
  const at = { slot: String(slot), log_offset: String(slot) };
  await store.insert('applied', [appliedRow('accounts', 0, at), appliedRow('transactions', 0, at)]);
  return at.slot;
}

test.each(['before', 'behind'] as const)(
  'a batch handed over in a slow first turn after an idle time is seen, if it comes %s what that turn takes',
  async (place) => {
    const { latest, handOver, reached, letGo, hold, pass } = open();
    const before = await write();
    expect((await latest.read(applied)).value).toBe(before);
    pass();
    handOver.noteUnknownChanges();
    hold(PARTS[place]);
    const first = latest.read(applied);
    await reached;
    // The turn takes long, and nobody else asks meanwhile.
    pass();
    const newest = await write();
    handOver.note(new Map());
    handOver.applied();
    const second = latest.read(applied);
    letGo();
    const made = await first;
    await second;
    // No batch comes any more; a follower checks whether its answer still holds.
    if (made.value !== newest) await awaited(() => expect(latest.stillHolds(made)).toBe(false));
    expect((await latest.read(applied)).value).toBe(newest);
  },
);
