import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { appliedOffsets } from '../../../clickhouse/queries/progress/applied-offsets.ts';
import { createChain } from '../../../devnet/chain/chain.ts';
import { createLife } from '../../../devnet/life/life.ts';
import { OffsetGapError } from '../../../ingest/log/offset-gap.ts';
import type { LogBatch } from '../../../ingest/log/port.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { recordsOf } from '../support/ledger-records.ts';
import { account, batchOf, logOf, PROGRAM, routed, transaction } from './support/records.ts';
import { readTables, sumsOfFacts, sumsOfTotals, type Tables } from './support/tables.ts';

const SEED = process.env.SEED ?? 'restored-1';
const TOPICS = ['accounts', 'transactions'] as const;

/** Batches that are written before the backup, after it, and once it was restored. */
type Parts = [LogBatch, LogBatch, LogBatch];

let programId: Uint8Array;
let parts: Parts[];
let expected: Tables;
const opened: Store[] = [];
const open = async () => {
  const store = await embeddedDatabase('several');
  opened.push(store);
  return store;
};

beforeAll(async () => {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: Date.UTC(2026, 0, 1, 23, 59, 50) });
  const life = createLife(chain, { seed: SEED, policies: 5, rate: 4, metadataBase: 'http://127.0.0.1:1' });
  for (let slot = 0; slot < 60; slot += 1) await chain.produce(life.next());
  programId = decodeKey(chain.programId) as Uint8Array;
  const records = recordsOf(chain);
  parts = TOPICS.map((topic) => {
    const log = logOf(records[topic]);
    const third = Math.ceil(log.length / 3);
    return [0, 1, 2].map((at) => batchOf(topic, log.slice(at * third, (at + 1) * third))) as Parts;
  });
  const store = await open();
  const apply = createMaterialiser({ store, programId });
  for (const batch of parts.flat()) await apply(batch);
  expected = await allOf(store);
  expect(expected.names?.length).toBeGreaterThan(5);
  expect(expected.firstStreamed?.length).toBeGreaterThan(1);
});
// The next test reuses their databases.
afterEach(async () => void (await Promise.all(opened.splice(0).map((store) => store.close()))));

/** A database, and its backup. */
let server: { store: Store; backup: Store; state: 'up' | 'down' | 'restored' };
beforeEach(async () => {
  const [main, backup] = [await open(), await open()];
  const on = <Args extends unknown[], Answer>(call: (store: Store) => (...args: Args) => Promise<Answer>) => {
    return async (...args: Args): Promise<Answer> => {
      if (server.state === 'down') throw new Error('connection refused');
      return call(server.state === 'up' ? main : backup)(...args);
    };
  };
  const store: Store = {
    ...main,
    query: on((one) => one.query) as Store['query'],
    lines: on((one) => one.lines),
    insert: on((one) => one.insert),
    command: on((one) => one.command),
  };
  server = { store, backup, state: 'up' };
});

const allOf = async (store: Store): Promise<Tables> => ({
  ...(await readTables(store)),
  names: await store.query('SELECT * FROM named_accounts FINAL ORDER BY ALL'),
});

for (const { noticed, isSeen } of [
  { noticed: 'by a call that fails', isSeen: true },
  { noticed: 'by its place alone, where no call was made meanwhile', isSeen: false },
]) {
  test(`a database restored under a running process, noticed ${noticed}, is filled completely (SEED=${SEED})`, async () => {
    const apply = createMaterialiser({ store: server.store, programId });
    const before = createMaterialiser({ store: server.backup, programId });
    for (const [first] of parts) await before(first);
    for (const [first, second] of parts) {
      await apply(first);
      await apply(second);
    }
    if (isSeen) {
      server.state = 'down';
      await expect(apply((parts[0] as Parts)[2])).rejects.toThrow('connection refused');
    }
    server.state = 'restored';
    for (const [, second, third] of parts) {
      // A partition that was away goes on somewhere after what this process has read of it.
      const told = isSeen ? third : { ...third, entries: third.entries.slice(1) };
      await expect(apply(told)).rejects.toMatchObject({
        constructor: OffsetGapError,
        next: second.entries[0]?.offset,
      });
      await apply(second);
      await apply(third);
    }
    expect(await allOf(server.backup)).toEqual(expected);
    expect(await sumsOfTotals(server.backup)).toEqual(await sumsOfFacts(server.backup));
  });
}

const LETTER: LogRecord = {
  ...({ kind: 'dead-letter', source: 'stream', what: 'transaction', where: 'somewhere' } as const),
  ...{ reason: 'some reason', slot: 6n, bytes: Uint8Array.of(1) },
};
const told = (partition: number, offset: bigint, ...more: LogRecord[]) => {
  const records = [transaction(`${partition} ${offset}`, 5n + offset, [routed(7n)]), ...more];
  return batchOf('transactions', logOf(records, offset), { partition });
};

/** A materialiser whose batches wait at their letters until the test lets them go on. */
function holding() {
  const [isReached, isLetGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const keepDeadLetters = () => {
    isReached.resolve();
    return isLetGo.promise;
  };
  const apply = createMaterialiser({ store: server.store, programId: PROGRAM, keepDeadLetters });
  return { apply, reached: isReached.promise, letGo: isLetGo.resolve };
}

test('a batch that is under way while another partition fails is not applied, and is written again', async () => {
  const { apply, reached, letGo } = holding();
  await apply(told(0, 0n));
  await apply(told(1, 0n));
  const underWay = apply(told(1, 1n, LETTER));
  await reached;
  server.state = 'down';
  await expect(apply(told(0, 1n))).rejects.toThrow('connection refused');
  server.state = 'restored';
  letGo();
  await expect(underWay).rejects.toThrow('a batch beside that of transactions/1 failed');
  expect(await appliedOffsets(server.backup)).toEqual(new Map());
  await expect(apply(told(1, 1n, LETTER))).rejects.toMatchObject({ constructor: OffsetGapError, next: 0n });
  await apply(told(1, 0n));
  await apply(told(1, 1n, LETTER));
  expect(await sumsOfTotals(server.backup)).toEqual(await sumsOfFacts(server.backup));
});

test('after an outage that lost nothing, the process goes on with the sums that it remembers', async () => {
  const made: string[] = [];
  const store: Store = {
    ...server.store,
    command: (sql, params) => {
      if (/INSERT INTO \w+_spans/.test(sql)) made.push(sql);
      return server.store.command(sql, params);
    },
  };
  const apply = createMaterialiser({ store, programId: PROGRAM });
  for (const offset of [0n, 1n]) for (const partition of [0, 1]) await apply(told(partition, offset));
  expect(made).not.toEqual([]);
  server.state = 'down';
  await expect(apply(told(0, 2n))).rejects.toThrow('connection refused');
  server.state = 'up';
  made.length = 0;
  for (const partition of [0, 1]) await apply(told(partition, 2n));
  // The engine would make all sums for a process that remembers nothing.
  expect(made).toEqual([]);
  expect(await sumsOfTotals(store)).toEqual(await sumsOfFacts(store));
});

test('a partition that is refused for the same offset gap again does not stop the others', async () => {
  const { apply, reached, letGo } = holding();
  await apply(told(0, 0n));
  await expect(apply(told(0, 2n))).rejects.toThrow(OffsetGapError);
  const underWay = apply(told(1, 0n, LETTER));
  await reached;
  await expect(apply(told(0, 2n))).rejects.toThrow(OffsetGapError);
  letGo();
  await underWay;
});

test('a failure to keep dead letters outside the database does not make the process ask the database again', async () => {
  const asked: string[] = [];
  const store = await open();
  const counted: Store = {
    ...store,
    query: (sql, params) => {
      if (/FROM applied/.test(sql)) asked.push(sql);
      return store.query(sql, params);
    },
  };
  const keepDeadLetters = async () => {
    throw new Error('no broker');
  };
  const apply = createMaterialiser({ store: counted, programId: PROGRAM, keepDeadLetters });
  const [first, second, third] = logOf(
    [1n, 2n, 3n].map((slot) => transaction(`at${slot}`, slot, [routed(slot)])),
  );
  await apply(batchOf('transactions', [first as never]));
  const unreadable = account('odd', PROGRAM, new Uint8Array(9));
  await expect(apply(batchOf('accounts', logOf([unreadable])))).rejects.toThrow('no broker');
  const before = asked.length;
  await apply(batchOf('transactions', [second, third] as never[]));
  expect(asked).toHaveLength(before);
});
