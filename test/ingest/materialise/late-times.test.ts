import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { LATEST_TABLES } from '../../../clickhouse/tables.ts';
import { tellTimes } from '../../../ingest/history/tell-times.ts';
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

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase('several');
});
afterAll(() => store.close());

let accounts = 0;

/** The states of an account of its own, and what is stored of it once they are taken in, one by one or all in one. */
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
])('a state that was read without a time has that of its slot once it is told, %s', async (_, together) => {
  const { read, time, after } = accountOf();
  // Read again later, which moves nothing.
  expect(await after([read(8), read(12, 120), time(8)], together)).toEqual(DATED);
});

test('a log that is read again dates it again, and a reading behind it moves nothing', async () => {
  const { read, time, after } = accountOf();
  expect(await after([read(8), time(8)], false, 2)).toEqual(DATED);
  expect(await after([read(8), time(8), read(12, 120)])).toEqual(DATED);
});

test('the time of a slot that another state has come behind dates nothing, nor that of another slot', async () => {
  const newer = { slot: '9', block_time: '90', fees_claimed: '9' };
  const [one, other, third] = [accountOf(), accountOf(), accountOf()];
  expect(await one.after([one.read(8), one.streamed(9), one.time(8)], false)).toEqual(newer);
  expect(await other.after([other.read(8), other.time(8), other.streamed(9)])).toEqual(newer);
  const undated = await third.after([third.read(8), third.time(7)]);
  expect(undated).toEqual({ ...DATED, block_time: null });
});

test('who died behind writing times, and told nobody, has who applies the batch again tell of those accounts', async () => {
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

test('what has no time is found, asked for until a node tells it, and told to the log', async () => {
  await store.command('TRUNCATE TABLE policies');
  const { read, time, after } = accountOf();
  await after([read(8)]);
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
  expect(await after(appended)).toEqual(DATED);
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
