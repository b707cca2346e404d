import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { STANDING } from '../../../clickhouse/queries/transactions/disputed.ts';
import { firstSlotToRead, type StoredBefore } from '../../../ingest/history/first-slot-to-read.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { eventRow, signature } from '../../api/support/rows.ts';
import { embeddedDatabase } from '../../support/embedded.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

const GAP = { fromSlot: 100n, toSlot: 200n, toTime: null };
const holding = (slot: bigint, marker?: bigint | null): StoredBefore => ({
  hasBefore: async (before) => slot < before,
  ...(marker === undefined ? {} : { applied: async () => marker }),
});

test('a gap is read from the start slot, but from its own first slot if an older transaction is stored', async () => {
  expect(await firstSlotToRead(GAP, 150n, holding(100n))).toBe(150n);
  expect(await firstSlotToRead(GAP, 999n, {})).toBe(999n);
  expect(await firstSlotToRead(GAP, 150n, holding(99n))).toBe(100n);
  expect(await firstSlotToRead(GAP, 50n, holding(99n))).toBe(100n);
});

test('a gap that names an unreadable transaction is read from its first slot, whatever the start slot is', async () => {
  const named = { fromSlot: 100n, toSlot: 100n, toTime: null, signature: signature('unread') };
  expect(await firstSlotToRead(named, 150n, holding(100n, 101n))).toBe(100n);
  expect(await firstSlotToRead(named, 150n, {})).toBe(100n);
});

test('while the applied marker is not past the gap, the first slot to read cannot be determined', async () => {
  for (const marker of [null, 200n])
    await expect(firstSlotToRead(GAP, 150n, holding(100n, marker))).rejects.toThrow('not past 200');
  expect(await firstSlotToRead(GAP, 150n, holding(100n, 201n))).toBe(150n);
  // Nothing is older than a gap that begins with the chain.
  expect(await firstSlotToRead({ ...GAP, fromSlot: 0n }, 150n, holding(0n, null))).toBe(150n);
});

test('a store that does not answer is an error that blames no node and contains no URL', async () => {
  const away: StoredBefore = { hasBefore: () => Promise.reject(new Error('http://user:KEY@host is away')) };
  await expect(firstSlotToRead(GAP, 150n, away)).rejects.toThrow(
    /^the store cannot say now whether anything before slot 100 is stored$/,
  );
});

const at = { slot: '40', signature: signature('it') };
test.each([
  ['whole', 'transactions', { ...at, tx_index: 0, has_index: 1, block_time: null, failed: 1 }],
  ['in its events alone', 'events', eventRow('coin', 'Routed', 0, at)],
  ['with cut logs', 'incomplete_transactions', { ...at, block_time: null, policies: [], reason: 'cut' }],
])('hasBefore finds a transaction that is stored %s, until it is struck', async (_, table, row) => {
  const has = async (slot: bigint) => storedState(store).hasBefore(slot);
  expect(await has(1_000n)).toBe(false);
  await store.insert(table, [row]);
  expect([await has(40n), await has(41n)]).toEqual([false, true]);
  await store.insert('disputed_transactions', [{ ...at, standing: STANDING.struck }]);
  expect(await has(41n)).toBe(false);
  for (const one of [
    table,
    'whole_transactions',
    'events_by_slot',
    'incomplete_by_slot',
    'disputed_transactions',
  ])
    await store.command(`TRUNCATE TABLE ${one}`);
});
