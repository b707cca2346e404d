import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { policyBytes } from './support/accounts.ts';
import { account, batchOf, logOf, PROGRAM } from './support/records.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
beforeEach(async () => {
  for (const table of ['policies', 'applied']) await store.command(`TRUNCATE TABLE ${table}`);
});

afterAll(() => store.close());

const SIGNATURE = new Uint8Array(64).fill(3);
const at = (slot: number, change: Partial<AccountRecord>, data = policyBytes()) =>
  account('a', PROGRAM, data, { slot: BigInt(slot), blockTime: slot * 10, ...change });
const streamed = (slot: number, data?: Uint8Array) =>
  at(slot, { source: 'stream', signature: SIGNATURE }, data);
const read = (slot: number, data?: Uint8Array) =>
  at(slot, { source: 'rpc', writeVersion: (1n << 64n) - 1n, signature: null }, data);
const another = policyBytes({ feesClaimed: 9n });

/** What is stored after the records, each in a batch of its own or all in one. */
async function after(records: readonly LogRecord[], together: boolean) {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  const log = logOf(records);
  for (const entries of together ? [log] : log.map((entry) => [entry]))
    await materialise(batchOf('accounts', entries));
  return await stored();
}

/** The stored policy; the table is emptied after that. */
async function stored() {
  const [row] = await store.query<{ slot: string; fees_claimed: string; source: string; signed: number }>(
    'SELECT slot, block_time, fees_claimed, source, signature IS NOT NULL AS signed FROM policies FINAL',
  );
  await store.command('TRUNCATE TABLE policies');
  await store.command('TRUNCATE TABLE applied');
  return row;
}

test.each([
  ['in one batch', true],
  ['in batches of their own', false],
])('a reading that repeats the stored state changes nothing, %s', async (_, together) => {
  const same = { slot: '5', block_time: '50', source: 'stream', signed: 1, fees_claimed: '1' };
  expect(await after([streamed(5), read(8)], together)).toEqual(same);
  expect(await after([streamed(5), read(8), read(9), read(8)], together)).toEqual(same);
  expect(await after([streamed(5), read(8, another), read(9, another)], together)).toMatchObject({
    slot: '8',
    // When it was written was not seen: its time is that of the reading that brought it first.
    block_time: '80',
    source: 'rpc',
    fees_claimed: '9',
  });
  expect(await after([read(8), read(12)], together)).toMatchObject({ slot: '8', source: 'rpc' });
});

test.each([
  ['in one batch', true],
  ['in batches of their own', false],
])('a reading that is older than the streamed state never replaces it, %s', async (_, together) => {
  const now = { slot: '9', fees_claimed: '1' };
  expect(await after([streamed(9), read(8, another)], together)).toMatchObject(now);
  expect(await after([streamed(5, another), streamed(9), read(8, another)], together)).toMatchObject(now);
  // A state that was confirmed at 8 is not replaced by an older one that comes late.
  expect(await after([streamed(5), read(8), streamed(7, another)], together)).toMatchObject({
    fees_claimed: '1',
  });
});

test('a reading after a late older state is compared with the stored state, wherever the log is cut', async () => {
  const kept = { slot: '5', block_time: '50', source: 'stream', signed: 1, fees_claimed: '1' };
  const brought = { slot: '8', block_time: '80', source: 'rpc', signed: 0, fees_claimed: '9' };
  const logs = [
    { records: [streamed(5), streamed(3, another), read(8), read(9)], row: kept, unseen: [] },
    { records: [streamed(5), read(3, another), read(4), read(8)], row: kept, unseen: [] },
    {
      records: [streamed(5), streamed(3, another), read(8, another), read(9, another)],
      ...{ row: brought, unseen: [{ after_slot: '5', to_slot: '8' }] },
    },
  ];
  for (const { records, row, unseen } of logs) {
    const log = logOf(records);
    for (let cut = 0; cut < log.length; cut += 1) {
      await store.command('TRUNCATE TABLE unseen_changes');
      const materialise = createMaterialiser({ store, programId: PROGRAM });
      for (const entries of [log.slice(0, cut), log.slice(cut)])
        await materialise(batchOf('accounts', entries));
      expect(await stored(), `cut at ${cut}`).toEqual(row);
      expect(await store.query('SELECT after_slot, to_slot FROM unseen_changes FINAL')).toEqual(unseen);
    }
  }
});

test('streamed states are stored without querying earlier ones, the readings of a batch with one query for all', async () => {
  const asked: string[] = [];
  const watched: Store = {
    ...store,
    query: (sql, params) => {
      if (/FROM (policies|account_hours|undated_hours)/.test(sql)) asked.push(sql);
      return store.query(sql, params);
    },
  };
  const materialise = createMaterialiser({ store: watched, programId: PROGRAM });
  await materialise(batchOf('accounts', logOf([streamed(5), streamed(6, another), streamed(4)])));
  expect(asked).toEqual([]);
  await materialise(batchOf('accounts', logOf([read(8), read(9, another), read(10)], 3n)));
  expect(asked).toHaveLength(1);
});

test('a reading that is read again from the log changes nothing', async () => {
  const log = logOf([streamed(5), read(8)]);
  for (let times = 0; times < 2; times += 1) {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    await materialise(batchOf('accounts', log));
    await createMaterialiser({ store, programId: PROGRAM })(batchOf('accounts', log.slice(1)));
  }
  const rows = await store.query('SELECT slot FROM policies FINAL');
  expect(rows).toEqual([{ slot: '5' }]);
});

test('a streamed state that comes after a reading of a later slot announces that hours may have changed', async () => {
  const hour = 3_600;
  const [before, passed, late, reading] = [hour - 50, hour + 50, hour + 100, hour + 150];
  const changed: string[][] = [];
  const materialise = createMaterialiser({
    ...{ store, programId: PROGRAM },
    onChanged: (changes) => void changed.push([...changes.keys()]),
  });
  const records: LogRecord[] = [
    at(before, { blockTime: before, signature: SIGNATURE }),
    { kind: 'marker', slot: BigInt(passed), parent: BigInt(passed - 1), blockTime: passed },
    at(reading, { source: 'rpc', blockTime: reading, writeVersion: (1n << 64n) - 1n }, another),
    at(late, { blockTime: late, signature: SIGNATURE }),
    at(reading + 1, { blockTime: reading + 1, signature: SIGNATURE }, another),
  ];
  for (const entry of logOf(records)) await materialise(batchOf('accounts', [entry]));
  const ofHours = changed.map((tables) => tables.includes('account_hours'));
  // Only the late state tells how long the first one held, and so how the passed hour ended.
  expect(ofHours.slice(-3)).toEqual([false, true, false]);
});
