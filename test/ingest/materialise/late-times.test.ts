import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { LATEST_TABLES } from '../../../clickhouse/tables.ts';
import { tellTimes } from '../../../ingest/history/tell-times.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord, TimeRecord } from '../../../schemas/records.ts';
import { freshDatabase } from '../../support/database.ts';
import { policyBytes } from './support/accounts.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from './support/records.ts';

const READ = (1n << 64n) - 1n;
const logger = createLogger('silent', 'test');
const { signal } = new AbortController();

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
beforeEach(async () => {
  for (const table of ['policies', 'applied']) await store.command(`TRUNCATE TABLE ${table}`);
});
afterAll(() => store.close());

const at = (slot: number, change: Partial<AccountRecord>, data = policyBytes()) =>
  account('a', PROGRAM, data, { slot: BigInt(slot), ...change });
const read = (slot: number, blockTime: number | null = null, data?: Uint8Array) =>
  at(slot, { source: 'rpc', writeVersion: READ, blockTime }, data);
const streamed = (slot: number) => at(slot, { blockTime: slot * 10 }, policyBytes({ feesClaimed: 9n }));
const time = (slot: number): TimeRecord => ({
  ...{ kind: 'time', address: rawKey('a'), slot: BigInt(slot), blockTime: slot * 10 },
});

const stands = async () =>
  (
    await store.query<{ slot: string; block_time: string | null; fees_claimed: string }>(
      'SELECT slot, block_time, fees_claimed FROM policies FINAL',
    )
  )[0];

/** The records in batches of their own, or all in one; then every batch once more. */
async function apply(records: readonly LogRecord[], together: boolean) {
  const log = logOf(records);
  const batches = together ? [log] : log.map((entry) => [entry]);
  for (let times = 0; times < 2; times += 1) {
    const materialise = createMaterialiser({ store, programId: PROGRAM });
    for (const entries of batches) await materialise(batchOf('accounts', entries));
  }
  const row = await stands();
  for (const table of ['policies', 'applied']) await store.command(`TRUNCATE TABLE ${table}`);
  return row;
}

test.each([
  ['in one batch', true],
  ['in batches of their own', false],
])('a state that was read without a time has that of its slot once it is told, %s', async (_, together) => {
  const dated = { slot: '8', block_time: '80', fees_claimed: '1' };
  expect(await apply([read(8), time(8)], together)).toEqual(dated);
  // Read again later, which moves nothing.
  expect(await apply([read(8), read(12, 120), time(8)], together)).toEqual(dated);
  expect(await apply([read(8), time(8), read(12, 120)], together)).toEqual(dated);
});

test.each([
  ['in one batch', true],
  ['in batches of their own', false],
])('the time of a slot that another state has come behind dates nothing, %s', async (_, together) => {
  const newer = { slot: '9', block_time: '90', fees_claimed: '9' };
  expect(await apply([read(8), streamed(9), time(8)], together)).toEqual(newer);
  expect(await apply([read(8), time(8), streamed(9)], together)).toEqual(newer);
  expect(await apply([read(8), time(7)], together)).toMatchObject({ slot: '8', block_time: null });
});

test('what has no time is found, asked for until a node tells it, and told to the log', async () => {
  const materialise = createMaterialiser({ store, programId: PROGRAM });
  await materialise(batchOf('accounts', logOf([read(8)])));
  const { undated } = storedState(store);
  const told = new Map<bigint, number>();
  const appended: LogRecord[] = [];
  const options = {
    ...{ store: undated as NonNullable<typeof undated>, logger, signal },
    rpc: { getBlockTime: async (slot: bigint) => told.get(slot) ?? null },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  await tellTimes(options);
  expect(appended).toEqual([]);
  told.set(8n, 80);
  await tellTimes(options);
  expect(appended).toEqual([time(8)]);
  await materialise(batchOf('accounts', logOf(appended, 1n)));
  expect(await stands()).toMatchObject({ slot: '8', block_time: '80' });
  expect(await options.store.undatedStates('', 10)).toEqual([]);
});

test('states of every table are looked for', async () => {
  const found = async () => (await storedState(store).undated?.undatedStates('', 100)) ?? [];
  expect(LATEST_TABLES.length).toBeGreaterThan(5);
  for (const table of LATEST_TABLES)
    await store.command(
      `INSERT INTO ${table} (address, slot, version, block_time, source, exists) VALUES ('${key(table)}', 5, 5, NULL, 'rpc', 0)`,
    );
  expect((await found()).map(({ address }) => address)).toEqual(LATEST_TABLES.map(key).toSorted());
  for (const table of LATEST_TABLES) await store.command(`TRUNCATE TABLE ${table}`);
});

test('a slot that no node can be asked for, and more than are asked for in one go, keep none of the others', async () => {
  const states = Array.from({ length: 120 }, (_, slot) => ({ address: key(`${slot}`), slot: BigInt(slot) }));
  states.sort((a, b) => (a.address < b.address ? -1 : 1));
  const appended: LogRecord[] = [];
  const options = {
    ...{ logger, signal },
    store: {
      undatedStates: async (behind: string, most: number) =>
        states.filter(({ address }) => address > behind).slice(0, most),
    },
    rpc: {
      getBlockTime: async (slot: bigint) => {
        if (slot === 7n) throw new Error('not now');
        return slot === 8n ? null : Number(slot);
      },
    },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  let place = await tellTimes(options);
  for (let goes = 1; place !== ''; goes += 1) {
    expect(goes).toBeLessThan(4);
    place = await tellTimes(options, place);
  }
  const told = appended.map((record) => (record as TimeRecord).blockTime).sort((a, b) => a - b);
  expect(told).toEqual(states.map((_, slot) => slot).filter((slot) => slot !== 7 && slot !== 8));
});
