import { afterAll, beforeAll, expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createMemory } from '../../../api/latest/memory.ts';
import type { RankedSelection } from '../../../api/latest/ranked/ranking.ts';
import type { View } from '../../../api/latest/view.ts';
import { type Changes, noteRows } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { appliedRow, key, LAUNCHPAD, policyRow } from '../support/rows.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
  await store.insert('policies', [
    policyRow('first', 'quote', { profit_swept: '20' }),
    policyRow('second', 'quote', { profit_swept: '10' }),
  ]);
});
afterAll(() => store.close());

const RICHEST: RankedSelection = {
  ...{ sort: 'profit', order: 'desc', limit: 1, offset: 0, quote: key('quote') },
  ...{ mode: null, origin: null, model: null, locked: null, paused: null, search: null },
  ...{ launchpad: encodeBase58(LAUNCHPAD), rates: [], window: null, undated: [] },
  ...{ sumsKnown: true, withoutFees: new Set<string>() },
};

const richest = (view: View): string | undefined => {
  const ranked = view.ranked({ launchpad: encodeBase58(LAUNCHPAD) });
  return ranked === null || ranked === 'engine' ? undefined : ranked.page(RICHEST).rows[0]?.address;
};

test('a page that is asked for again and again without being made anew is told of what would change its order', async () => {
  const handOver = createHandOver();
  let now = 0;
  const memory = createMemory({
    ...{ store, feed: handOver, maxBytes: 10_000_000 },
    ...{ clock: Date.now, monotonic: () => now },
  });
  const made = await memory.read(richest);
  expect(made.value).toBe(policyRow('first', 'quote').address);
  now = 30_000;
  expect(memory.holds(made)).toBe(true);
  const state = { slot: '9000', version: String(9_000n << 64n) };
  const rich = policyRow('second', 'quote', { profit_swept: '30', ...state });
  const changes: Changes = new Map();
  await store.insert('policies', [rich]);
  noteRows(changes, 'policies', [rich]);
  handOver.note(changes);
  await memory.turn();
  expect(memory.holds(made)).toBe(false);
  expect((await memory.read(richest)).value).toBe(rich.address);
});
