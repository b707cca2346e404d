import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { createMaterialiser, type MaterialiserOptions } from '../../../ingest/materialise/materialiser.ts';
import type { GapRecord, LogRecord, StruckTransaction } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import {
  batchOf,
  key,
  logOf,
  marker,
  PROGRAM,
  rawSignature,
  routed,
  transaction,
} from './support/records.ts';

let store: Store;
let next = 0n;
let apply: ReturnType<typeof createMaterialiser>;
const begin = (over: Partial<MaterialiserOptions> = {}) => {
  apply = createMaterialiser({ store, programId: PROGRAM, ...over });
};
beforeEach(async () => {
  store = await embeddedDatabase('several');
  next = 0n;
  begin();
  await take(marker(1_000n));
});
afterEach(() => store.close());

async function take(...records: LogRecord[]): Promise<number> {
  await apply(batchOf('transactions', logOf(records, next)));
  next += BigInt(records.length);
  const [row] = await store.query<{ late_batches: number }>('SELECT late_batches FROM applied FINAL');
  return row?.late_batches ?? -1;
}
const at = (slot: bigint, name = `at ${slot}`) => transaction(name, slot, [routed(1n)]);
const gap = (fromSlot: bigint, toSlot: bigint, closed: boolean): GapRecord => ({
  ...{ kind: 'gap', fromSlot, toSlot, toTime: null, closed },
});

test('events in the newest slots are not counted as late, older ones are, once a batch', async () => {
  expect(await take(at(1_001n), at(937n))).toBe(0);
  // Before its batch was applied the slot was among the newest, however far the batch goes.
  expect(await take(marker(1_200n), at(990n))).toBe(0);
  expect(await take(at(1_136n))).toBe(1);
  expect(await take(at(900n), at(901n), marker(1_201n))).toBe(2);
  begin();
  expect(await take(at(1_202n))).toBe(2);
  expect(await take(at(902n))).toBe(3);
});

test('an old transaction without an event of a policy is not counted as late', async () => {
  expect(await take(transaction('nothing', 900n, []))).toBe(0);
});

test('events inside an open gap are not counted as late, those outside or after its closing are', async () => {
  expect(await take(gap(500n, 800n, false), at(600n))).toBe(0);
  expect(await take(at(700n), gap(500n, 650n, false))).toBe(0);
  expect(await take(at(640n))).toBe(0);
  expect(await take(at(499n))).toBe(1);
  expect(await take(gap(500n, 500n, true))).toBe(1);
  expect(await take(at(601n))).toBe(2);
});

test('reopening a closed gap is counted as late, its first opening and any closing are not', async () => {
  expect(await take(gap(500n, 800n, false), gap(500n, 500n, true))).toBe(0);
  expect(await take(gap(500n, 700n, false))).toBe(1);
  expect(await take(at(600n), gap(500n, 599n, false))).toBe(1);
  expect(await take(gap(500n, 500n, true))).toBe(1);
  // No reader sees a gap that one batch opens and closes, and none of its events was sent by then.
  expect(await take(gap(500n, 800n, false), at(601n), gap(500n, 500n, true))).toBe(2);
  // A gap that one process has closed is not opened by another that still narrows it.
  expect(await take(gap(300n, 400n, false), gap(300n, 400n, true), gap(300n, 350n, false))).toBe(2);
  begin();
  expect(await take(gap(500n, 800n, false))).toBe(3);
});

test('a batch that is read again is not counted as reopening its gap', async () => {
  const opening = gap(500n, 800n, false);
  expect(await take(opening, gap(500n, 500n, true), at(1_001n), marker(1_001n))).toBe(0);
  next = 1n;
  expect(await take(opening, gap(500n, 500n, true), at(1_001n), marker(1_001n))).toBe(0);
});

test('a reopened gap whose writer was killed after opening or closing it is counted once by the next process', async () => {
  await take(gap(500n, 800n, false), gap(500n, 500n, true));
  let fails = true;
  const killed: Store = {
    ...store,
    insert: async (table, rows) => {
      if (fails && table === 'applied') throw new Error('killed');
      await store.insert(table, rows);
    },
  };
  begin({ store: killed });
  await expect(take(gap(500n, 800n, false))).rejects.toThrow('killed');
  begin();
  expect(await take(gap(500n, 800n, false))).toBe(1);
  expect(await take(gap(500n, 500n, true))).toBe(1);
  begin({ store: killed });
  const again = [gap(500n, 800n, false), at(600n), gap(500n, 500n, true)];
  await expect(take(...again)).rejects.toThrow('killed');
  fails = false;
  begin();
  expect(await take(...again.slice(0, 2))).toBe(2);
  expect(await take(...again.slice(2))).toBe(2);
});

test('striking an old transaction, and a request to recompute old slots, are counted as late', async () => {
  await take(at(1_001n, 'ghost'), marker(1_100n));
  const signature = encodeBase58(rawSignature('ghost'));
  const of = { policy: key('policy of mint'), mint: key('mint'), quoteMint: key('quote') };
  const struck: StruckTransaction[] = [
    { signature, slot: 1_001n, policies: [], events: [{ ...of, position: 0, logPartition: 0 }] },
  ];
  expect(await take({ kind: 'verified', slot: 1_090n, struck })).toBe(1);
  const askFor = (slot: bigint) =>
    take({ kind: 'recompute', partition: 0, mints: [key('mint')], slots: [slot] });
  expect(await askFor(1_099n)).toBe(1);
  expect(await askFor(512n)).toBe(2);
});

test('a late batch that failed after its events were written is counted once, when it is tried again', async () => {
  let fails = true;
  const failing: Store = {
    ...store,
    insert: async (table, rows) => {
      if (fails && table === 'transactions') throw new Error('reset by peer');
      await store.insert(table, rows);
    },
  };
  begin({ store: failing });
  await expect(take(at(900n))).rejects.toThrow('reset by peer');
  expect(await store.query('SELECT slot FROM events')).toEqual([{ slot: '900' }]);
  fails = false;
  expect(await take(at(900n))).toBe(1);
});
