import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { LATEST_TABLES } from '../../../clickhouse/tables.ts';
import { dateStates, type Undated } from '../../../ingest/history/date-states.ts';
import { createSlotTimeBackoff } from '../../../ingest/history/slot-time-backoff.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord, TimeRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { policyBytes } from './support/accounts.ts';
import { account, batchOf, key, logOf, PROGRAM, rawKey } from './support/records.ts';

const READ = (1n << 64n) - 1n;
const logger = createLogger('silent', 'test');
const { signal } = new AbortController();
/** No backoff: each slot is asked for again in the next round. */
const restless = { isWaiting: () => false, noteUnknown: () => {} };

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

let accounts = 0;

/** States of an account of its own; `after` applies some, one by one or in one batch, and returns what is stored. */
function accountOf() {
  accounts += 1;
  const name = `account ${accounts}`;
  const at = (slot: number, change: Partial<AccountRecord>, data = policyBytes()) =>
    account(name, PROGRAM, data, { slot: BigInt(slot), ...change });
  const time = (slot: number): TimeRecord => ({
    ...{ kind: 'time', address: rawKey(name), slot: BigInt(slot), blockTime: slot * 10 },
  });
  const after = async (records: readonly LogRecord[], together = true, times = 1) => {
    const log = logOf(records);
    const batches = together ? [log] : log.map((entry) => [entry]);
    for (let time = 0; time < times; time += 1) {
      const materialise = createMaterialiser({ store, programId: PROGRAM });
      for (const entries of batches) await materialise(batchOf('accounts', entries));
    }
    const [row] = await store.query<{ slot: string; block_time: string | null; fees_claimed: string }>(
      'SELECT slot, block_time, fees_claimed FROM policies FINAL WHERE address = {address:String}',
      { address: key(name) },
    );
    return row;
  };
  return {
    ...{ time, after },
    read: (slot: number, blockTime: number | null = null) =>
      at(slot, { source: 'rpc', writeVersion: READ, blockTime }),
    streamed: (slot: number) => at(slot, { blockTime: slot * 10 }, policyBytes({ feesClaimed: 9n })),
  };
}

const DATED = { slot: '8', block_time: '80', fees_claimed: '1' };

test.each([
  ['in one batch', true],
  ['in batches of their own', false],
])('a state that was read without a time gets that of its slot by a time record, %s', async (_, together) => {
  const { read, time, after } = accountOf();
  // A later reading of the same state does not move its time.
  expect(await after([read(8), read(12, 120), time(8)], together)).toEqual(DATED);
});

test('a log that is read again dates the state the same, and a later reading does not move its time', async () => {
  const { read, time, after } = accountOf();
  expect(await after([read(8), time(8)], false, 2)).toEqual(DATED);
  expect(await after([read(8), time(8), read(12, 120)])).toEqual(DATED);
});

test('a time record dates neither a newer state nor a state of another slot', async () => {
  const newer = { slot: '9', block_time: '90', fees_claimed: '9' };
  const [one, other, third] = [accountOf(), accountOf(), accountOf()];
  expect(await one.after([one.read(8), one.streamed(9), one.time(8)], false)).toEqual(newer);
  expect(await other.after([other.read(8), other.time(8), other.streamed(9)])).toEqual(newer);
  const undated = await third.after([third.read(8), third.time(7)]);
  expect(undated).toEqual({ ...DATED, block_time: null });
});

test('accounts that a process dated before it died are announced by the one that applies the batch again', async () => {
  const changed: string[][] = [];
  const tellsNobody: Store = {
    ...store,
    insert: async (table, rows) => {
      if (table === 'changes') throw new Error('the process died');
      await store.insert(table, rows);
    },
  };
  const { read, time, after } = accountOf();
  await after([read(8)]);
  const entries = logOf([time(8), time(7)], 1n);
  const died = createMaterialiser({ store: tellsNobody, programId: PROGRAM });
  await expect(died(batchOf('accounts', entries))).rejects.toThrow('the process died');
  const onChanged = (changes: Changes) => changed.push([...(changes.get('policies') ?? [])]);
  const again = createMaterialiser({ store, programId: PROGRAM, onChanged });
  await again(batchOf('accounts', entries));
  expect(changed).toEqual([[encodeBase58(time(8).address)]]);
  expect(await after([])).toEqual(DATED);
});

test('the time of an undated state is requested until a node knows it, then appended to the log', async () => {
  for (const table of ['policies', 'undated_hours']) await store.command(`TRUNCATE TABLE ${table}`);
  const { read, time, after } = accountOf();
  await after([read(8)]);
  const { undated } = storedState(store);
  const told = new Map<bigint, number>();
  const appended: LogRecord[] = [];
  const options = {
    ...{ store: undated as NonNullable<typeof undated>, logger, signal, backoff: restless },
    rpc: { getBlockTime: async (slot: bigint) => told.get(slot) ?? null },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  await dateStates(options);
  expect(appended).toEqual([]);
  told.set(8n, 80);
  await dateStates(options);
  expect(appended).toEqual([time(8)]);
  expect(await after(appended)).toEqual(DATED);
  expect(await options.store.undatedStates('', 10)).toEqual([]);
});

test('the time of a superseded state is requested too, once per slot, and fills its hour', async () => {
  for (const table of ['policies', 'undated_hours']) await store.command(`TRUNCATE TABLE ${table}`);
  const [one, other, third, fourth] = [accountOf(), accountOf(), accountOf(), accountOf()];
  // Hours 0, without a time, and 2.
  await one.after([one.read(8), one.streamed(900)]);
  await other.after([other.read(8), other.streamed(900)]);
  await third.after([third.read(8)]);
  await fourth.after([fourth.read(9), fourth.streamed(900)]);
  const { undated } = storedState(store);
  const asked: bigint[] = [];
  const told = new Map<bigint, number>([[8n, 80]]);
  const appended: LogRecord[] = [];
  const options = {
    ...{ store: undated as NonNullable<typeof undated>, logger, signal, backoff: restless },
    rpc: {
      getBlockTime: async (slot: bigint) => {
        asked.push(slot);
        return told.get(slot) ?? null;
      },
    },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  await dateStates(options);
  expect(asked.toSorted()).toEqual([8n, 9n]);
  const records = [one, other, third].map(({ time }) => time(8));
  expect(new Set(appended)).toEqual(new Set(records));
  await one.after(appended.splice(0));
  const hoursOf = async ({ address }: TimeRecord) =>
    (
      await store.query<{ hour: number; time: string }>(
        'SELECT hour, toString(block_time) AS time FROM account_hours FINAL WHERE address = {of:String} ORDER BY hour',
        { of: encodeBase58(address) },
      )
    ).map(({ hour, time }) => [hour, time]);
  const both = [
    [0, '80'],
    [2, '9000'],
  ];
  expect(await Promise.all(records.map(hoursOf))).toEqual([both, both, [[0, '80']]]);
  asked.length = 0;
  await dateStates(options);
  expect(asked).toEqual([9n]);
  told.set(9n, 90);
  await dateStates(options);
  expect(appended).toEqual([fourth.time(9)]);
  // A log that is read again brings the time again, so it is not asked for.
  for (const times of [1, 2]) await fourth.after([...appended], true, times);
  asked.length = 0;
  await dateStates(options);
  expect(asked).toEqual([]);
});

test('undated states are found in every table of latest states', async () => {
  const found = async () => (await storedState(store).undated?.undatedStates('', 100)) ?? [];
  expect(LATEST_TABLES.length).toBeGreaterThan(5);
  for (const table of LATEST_TABLES) await store.command(`TRUNCATE TABLE ${table}`);
  for (const table of LATEST_TABLES)
    await store.command(
      `INSERT INTO ${table} (address, slot, version, block_time, source, exists) VALUES ('${key(table)}', 5, 5, NULL, 'rpc', 0)`,
    );
  expect((await found()).map(({ address }) => address)).toEqual(LATEST_TABLES.map(key).toSorted());
  for (const table of LATEST_TABLES) await store.command(`TRUNCATE TABLE ${table}`);
});

test('neither a slot whose request fails nor a thousand accounts waiting for one slot hold up others', async () => {
  const states = Array.from({ length: 120 }, (_, slot) => ({ address: key(`${slot}`), slot: BigInt(slot) }));
  states.sort((a, b) => (a.address < b.address ? -1 : 1));
  // For each slot as many as are looked at in one round.
  const hours = [7n, 100n, 101n].flatMap((slot) =>
    Array.from({ length: 1_000 }, (_, at) => ({ address: key(`${at}`), slot })),
  );
  const isSame = (one: Undated) => (other: Undated) =>
    one.address === other.address && one.slot === other.slot;
  const appended: LogRecord[] = [];
  const options = {
    ...{ logger, signal, backoff: createSlotTimeBackoff() },
    store: {
      undatedStates: async (behind: string, most: number) =>
        states.filter(({ address }) => address > behind).slice(0, most),
      waitingHours: async (behind: Undated | null, most: number) =>
        hours.slice(behind === null ? 0 : hours.findIndex(isSame(behind)) + 1).slice(0, most),
    },
    rpc: {
      getBlockTime: async (slot: bigint) => {
        if (slot === 7n) throw new Error('not now');
        return slot === 8n ? null : Number(slot);
      },
    },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  let places = await dateStates(options);
  for (let goes = 1; goes < 4; goes += 1) places = await dateStates(options, places);
  const nameOf = ({ address, slot }: Undated) => `${address} ${slot}`;
  const told = appended.map((record) => {
    const { address, slot, blockTime } = record as TimeRecord;
    expect(blockTime).toBe(Number(slot));
    return nameOf({ address: encodeBase58(address), slot });
  });
  const known = [...states, ...hours].filter(({ slot }) => slot !== 7n && slot !== 8n).map(nameOf);
  expect(new Set(told)).toEqual(new Set(known));
});

test('slots whose time no node knows are requested less and less often, and hold up no others', async () => {
  const HOPELESS = 200;
  const hours = Array.from({ length: HOPELESS }, (_, slot) => ({ address: key('one'), slot: BigInt(slot) }));
  let clock = 0;
  const asked = new Map<bigint, number>();
  const appended: LogRecord[] = [];
  const options = {
    ...{ logger, signal, backoff: createSlotTimeBackoff(() => clock) },
    store: { undatedStates: async () => [], waitingHours: async () => hours },
    rpc: {
      getBlockTime: async (slot: bigint) => {
        asked.set(slot, (asked.get(slot) ?? 0) + 1);
        return slot < HOPELESS ? null : 7;
      },
    },
    log: { append: async (records: readonly LogRecord[]) => void appended.push(...records) },
  };
  const go = async () => {
    await dateStates(options);
    clock += 30_000;
  };
  // A day of rounds.
  for (let goes = 0; goes < 2_880; goes += 1) await go();
  expect(asked.size).toBe(HOPELESS);
  const times = [...asked.values()];
  expect(Math.max(...times)).toBeLessThan(40);
  expect(Math.min(...times)).toBeGreaterThan(20);
  hours.push({ address: key('one'), slot: 999n });
  for (let goes = 0; goes < 10 && appended.length === 0; goes += 1) await go();
  expect(appended).toMatchObject([{ slot: 999n, blockTime: 7 }]);
});
