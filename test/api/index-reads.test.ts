import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createIndexReads } from '../../api/latest/index-reads.ts';
import type { IndexState } from '../../api/latest/index-state.ts';
import type { Store } from '../../clickhouse/client.ts';
import { freshDatabase } from '../support/database.ts';
import { appliedRow, gapRow, key, signature, TIME } from './support/rows.ts';

let store: Store;
let asked: string[] = [];
let marker = 0;
const index = createIndexReads(() => String(marker));

beforeAll(async () => {
  const real = await freshDatabase();
  store = {
    ...real,
    query: (sql, params) => {
      asked.push(sql);
      return real.query(sql, params);
    },
  };
  await store.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});
afterAll(() => store.close());
beforeEach(() => {
  marker += 1;
  asked = [];
});

const historyReason = async ({ historyReason: reason }: IndexState) => reason;
const gap = (fromSlot: string, change: object = {}) => gapRow('999', { from_slot: fromSlot, ...change });

/** What was read, and how often, where this happens behind the first `times` reads. */
async function settledAfter(times: number, happens: () => Promise<void>) {
  let reads = 0;
  const reason = await index.readAsOne(store, async (state) => {
    reads += 1;
    if (reads <= times) await happens();
    return state.historyReason;
  });
  return { reads, reason };
}

test('where nothing changes it is read once, and the state is shared until the index goes on', async () => {
  expect(await index.readAsOne(store, historyReason)).toBeNull();
  const first = asked.length;
  expect(await index.readAsOne(store, historyReason)).toBeNull();
  expect(asked.length - first).toBeLessThan(first);
});

test('a gap that opens while sums are read makes them absent', async () => {
  const { reads, reason } = await settledAfter(1, () => store.insert('gaps', [gap('10')]));
  expect(reads).toBe(2);
  expect(reason).toContain('slots 10 to 999');
});

test('a gap that closes meanwhile has them read again, now that they are whole', async () => {
  const closing = () => store.insert('gaps', [gap('10', { log_offset: '2', closed: 1 })]);
  expect(await settledAfter(1, closing)).toEqual({ reads: 2, reason: null });
});

test('a gap that opens and closes meanwhile is noticed too', async () => {
  const both = async () => {
    await store.insert('gaps', [gap('20')]);
    await store.insert('gaps', [gap('20', { log_offset: '3', closed: 1 })]);
  };
  expect(await settledAfter(1, both)).toEqual({ reads: 2, reason: null });
});

test('so is a transaction that becomes incomplete, and the state is the newer one', async () => {
  const row = {
    signature: signature('cut'),
    slot: '5',
    block_time: TIME,
    reason: 'cut',
    policies: [key('p')],
  };
  let reads = 0;
  const policies = await index.readAsOne(store, async ({ incomplete }) => {
    reads += 1;
    if (reads === 1) await store.insert('incomplete_transactions', [row]);
    return incomplete.policies;
  });
  expect({ reads, policies }).toEqual({ reads: 2, policies: [key('p')] });
});

test('where it changes without end, sums are absent with that reason', async () => {
  let at = 100;
  const { reads, reason } = await settledAfter(9, () => {
    at += 1;
    return store.insert('gaps', [gap(String(at))]);
  });
  expect(reads).toBe(4);
  expect(reason).toMatch(/is changing at this moment$/);
});

test('many at the same time share what they look at', async () => {
  await Promise.all(Array.from({ length: 50 }, () => index.readAsOne(store, historyReason)));
  expect(asked.length).toBeLessThan(15);
});
