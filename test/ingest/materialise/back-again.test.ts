import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { deadLetterCount } from '../../../clickhouse/queries/status/status-counts.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { firstSlotOfInterval } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { account, batchOf, key, logOf, marker, PROGRAM, routed, transaction } from './support/records.ts';

let store: Store;
beforeEach(async () => {
  store = await embeddedDatabase('several');
});
afterEach(() => store.close());

const process = (over: Store = store) => createMaterialiser({ store: over, programId: PROGRAM });

/** A store whose writer is killed as it inserts into this table. */
function refusing(table: string): Store {
  const insert: Store['insert'] = async (into, rows) => {
    if (into === table) throw new Error('killed');
    await store.insert(into, rows);
  };
  return { ...store, insert };
}

const handOut =
  (topic: LogBatch['topic']) => (first: number, records: readonly LogRecord[], assignment: number) =>
    batchOf(topic, logOf(records, BigInt(first)), { assignment });
const transactions = handOut('transactions');
const accounts = handOut('accounts');

const at = (slot: number, amount: number, source: 'rpc' | 'stream') => {
  const data = Buffer.alloc(165);
  data.writeBigUInt64LE(BigInt(amount), 64);
  data[108] = 1;
  const owner = decodeKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA') as Uint8Array;
  const reading = source === 'rpc' ? { writeVersion: (1n << 64n) - 1n } : {};
  return account('balance', owner, data, {
    ...{ source, slot: BigInt(slot), expected: 'token_account', ...reading },
  });
};

const days = () => store.query('SELECT toString(sum(routed_to_lp)) AS lp FROM quote_days FINAL');
const rows = () =>
  store.query<{ writer: string; keys: string }>('SELECT writer, keys FROM changes ORDER BY writer, seq');
const tables = ({ keys }: { keys: string }) => Object.keys(JSON.parse(keys));
const writers = async () => new Set((await rows()).map(({ writer }) => writer));
/** Changes announced since, by new writers only, as rows of two writers have no order. */
const toldSince = async (before: ReadonlySet<string> = new Set()) =>
  (await rows()).filter(({ writer }) => !before.has(writer)).map(tables);

describe('a process that gets a partition back', () => {
  test('forgets what it remembered, where another wrote the same offsets and died', async () => {
    const first = process();
    const undated = { blockTime: null, index: 1 };
    await first(transactions(0, [transaction('t', 1_200n, [routed(7n)], undated)], 1));
    await first(transactions(1, [transaction('x', 1_201n, [routed(100n)])], 1));
    // Its time comes from a reading that does not know its index in the block.
    const again = [transaction('t', 1_200n, [routed(7n)], { source: 'rpc', index: null })];
    await expect(process(refusing('applied'))(transactions(2, again, 1))).rejects.toThrow('killed');
    await first(transactions(2, again, 2));
    await first(transactions(3, [transaction('y', 1_202n, [routed(1_000n)])], 2));
    expect(await days()).toEqual([{ lp: '1107' }]);
    await first(transactions(4, [transaction('z', 5_202n, [routed(1n)])], 2));
    expect(await days()).toEqual([{ lp: '1108' }]);
  });

  test('announces an unseen change that another stored before it died, and later marks it brought', async () => {
    const first = process();
    await first(accounts(0, [at(1, 7, 'stream'), marker(1n)], 1));
    const found = [at(35, 8, 'rpc'), marker(2n)];
    await expect(process(refusing('changes'))(accounts(2, found, 1))).rejects.toThrow('killed');
    await first(accounts(2, found, 2));
    expect((await toldSince()).at(-1)).toContain('unseen_changes');
    // The stream brings the state after all.
    await first(accounts(4, [at(12, 8, 'stream'), marker(12n)], 2));
    expect(await store.query('SELECT toString(slot) AS slot FROM brought_changes FINAL')).toEqual([
      { slot: '12' },
    ]);
  });

  test('detects that the database was restored to an earlier state while it was paused', async () => {
    const first = process();
    await first(transactions(0, [transaction('t', 1_200n, [routed(7n)])], 1));
    for (const table of ['applied', 'events', 'events_by_slot'])
      await store.command(`TRUNCATE TABLE ${table}`);
    await expect(first(transactions(1, [transaction('x', 1_201n, [routed(1n)])], 2))).rejects.toBeInstanceOf(
      OffsetGapError,
    );
  });
});

test('a dead letter resolved just before a kill is announced by the process that takes over', async () => {
  const read = transaction('one', 5n, [routed(7n)]);
  await process()(transactions(0, [{ ...read, payload: Uint8Array.of(1) }], 1));
  expect(await deadLetterCount(store)).toBe('1');
  await expect(process(refusing('changes'))(transactions(1, [read], 1))).rejects.toThrow('killed');
  expect(await deadLetterCount(store)).toBe('0');
  const before = await writers();
  await process()(transactions(1, [read], 2));
  expect((await toldSince(before)).flat()).toContain('dead_letters');
});

describe('an account whose closing was stored just before a kill', () => {
  const gone = (name: string, expected: 'program' | 'metadata') =>
    account(name, new Uint8Array(32), new Uint8Array(0), { slot: 9n, lamports: 0n, expected });
  const stood = (name: string) => ({
    ...{ address: key(name), slot: '1', version: (1n << 64n).toString(), block_time: 1 },
    ...{ source: 'stream', exists: 1 },
  });

  /** The keys that the next owner announces for the table, after the engine has merged the stored row with the closing. */
  async function toldOf(table: 'venue_accounts' | 'metadata_accounts', record: LogRecord): Promise<string[]> {
    const batch = accounts(0, [record, marker(9n)], 1);
    await expect(process(refusing('changes'))(batch)).rejects.toThrow('killed');
    await store.command(`OPTIMIZE TABLE ${table} FINAL`);
    await process()(batch);
    const [row] = await store.query<{ keys: string }>('SELECT keys FROM changes ORDER BY at DESC, seq DESC');
    return JSON.parse(row?.keys ?? '{}')[table] ?? [];
  }

  test('is announced by the next process with the policy whose venue account it was', async () => {
    const row = { ...stood('venue account'), policy: key('policy'), token_account: key('token') };
    await store.insert('venue_accounts', [row]);
    await store.insert('venue_accounts_by_policy', [{ policy: key('policy'), address: row.address }]);
    expect(await toldOf('venue_accounts', gone('venue account', 'program'))).toContain(key('policy'));
  });

  test('is announced by the next process with the mint whose metadata it was', async () => {
    const row = { ...stood('metadata'), mint: key('mint'), name: 'a', symbol: 'b', uri: 'c' };
    await store.insert('metadata_accounts', [row]);
    await store.insert('mints', [{ ...stood('mint'), metadata_pointer: row.address }]);
    expect(await toldOf('metadata_accounts', gone('metadata', 'metadata'))).toContain(key('mint'));
  });
});

test('an unseen change that a failed try stored is announced by the try that succeeds', async () => {
  let fails = false;
  const insert: Store['insert'] = async (into, rows) => {
    if (fails && into === 'changes') {
      fails = false;
      throw new Error('cut');
    }
    await store.insert(into, rows);
  };
  const one = process({ ...store, insert });
  await one(accounts(0, [at(1, 7, 'stream'), marker(1n)], 1));
  const found = accounts(2, [at(35, 8, 'rpc'), marker(2n)], 1);
  fails = true;
  await expect(one(found)).rejects.toThrow('cut');
  const before = await writers();
  await one(found);
  expect(await toldSince(before)).toEqual([expect.arrayContaining(['unseen_changes'])]);
});

test('a replay beside the owner announces once, not with each batch, that hours may have changed', async () => {
  const told: boolean[] = [];
  const replay = createMaterialiser({
    ...{ store, programId: PROGRAM },
    recomputeByOwner: async () => {},
    onChanged: (changes) => told.push(changes.has('unseen_changes')),
  });
  for (const first of [0, 1])
    await replay(transactions(first, [transaction(`t ${first}`, 1_200n, [routed(7n)])], 1));
  expect(told).toEqual([true, false]);
});

test('an owner that recomputes for a replay still dates an event that the replay stored without a time', async () => {
  const owner = process();
  await owner(transactions(0, [transaction('x', 1_199n, [routed(100n)])], 1));
  const replay = createMaterialiser({
    ...{ store, programId: PROGRAM },
    recomputeByOwner: async (partition, { mints, intervals }) => {
      const slots = [...intervals].map(firstSlotOfInterval);
      await owner(transactions(1, [{ kind: 'recompute', partition, mints: [...mints], slots }], 1));
    },
  });
  const undated = { blockTime: null, index: 1 };
  await replay(batchOf('transactions', logOf([transaction('t', 1_200n, [routed(7n)], undated)])));
  await owner(transactions(2, [transaction('t', 1_200n, [routed(7n)], { source: 'rpc' })], 1));
  expect(await days()).toEqual([{ lp: '107' }]);
  expect(await store.query('SELECT toString(slot) AS slot FROM dated_events')).toEqual([{ slot: '1200' }]);
});
