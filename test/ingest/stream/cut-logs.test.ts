import { afterEach, expect, test, vi } from 'vitest';
import { createCutLogsReader } from '../../../ingest/stream/cut-logs.ts';
import type { TransactionUpdate } from '../../../ingest/stream/geyser/update.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord, TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility } from '../../../schemas/transaction/legibility.ts';
import { toJson } from '../../schemas/support/encode-transaction.ts';
import { ours, theirs } from '../../schemas/support/program-calls.ts';
import { run } from '../../schemas/support/run.ts';
import { awaited } from '../../support/awaited.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const SIGNATURE = encodeBase58(new Uint8Array(64).fill(7));

test('a transaction first seen in a dead slot is read again in the slot where it landed, once', async () => {
  const reply = JSON.parse(Buffer.from(toJson(run([ours()]), false)).toString());
  const landed = { ...reply, slot: 30, transaction: { ...reply.transaction, signatures: [SIGNATURE] } };
  const abort = new AbortController();
  const read: LogRecord[] = [];
  let asked = 0;
  const getTransaction = async () => {
    asked += 1;
    return landed;
  };
  const reader = createCutLogsReader({
    rpc: { getTransaction } as unknown as Rpc,
    send: async (records) => void read.push(...records),
    logger: createLogger('silent', 'test'),
    signal: abort.signal,
  });
  const told = (slot: bigint) => reader.addKnown([{ signature: SIGNATURE, slot, blockTime: null }]);
  told(12n);
  await awaited(() => expect(asked).toBe(1));
  expect(read).toEqual([]);
  told(30n);
  await awaited(() => expect(read).toMatchObject([{ kind: 'transaction', slot: 30n }]));
  told(30n);
  const before = asked;
  await awaited(() => expect(asked).toBeGreaterThan(before));
  abort.abort();
  expect(read.length).toBe(1);
});

test('an incomplete reply is not logged: the transaction is requested until a node returns it whole', async () => {
  const whole = JSON.parse(Buffer.from(toJson(run([theirs({ call: ours() })]), false)).toString());
  const landed = { ...whole, slot: 30, transaction: { ...whole.transaction, signatures: [SIGNATURE] } };
  const half = { ...landed, meta: { ...landed.meta, innerInstructions: null, logMessages: null } };
  const abort = new AbortController();
  const read: LogRecord[] = [];
  let asked = 0;
  const reader = createCutLogsReader({
    rpc: {
      getTransaction: async () => {
        asked += 1;
        return asked === 1 ? half : landed;
      },
    } as unknown as Rpc,
    send: async (records) => void read.push(...records),
    logger: createLogger('silent', 'test'),
    signal: abort.signal,
  });
  reader.addKnown([{ signature: SIGNATURE, slot: 30n, blockTime: null }]);
  await awaited(() => expect(read).toHaveLength(1));
  abort.abort();
  expect(asked).toBe(2);
  expect(legibility(read[0] as TransactionRecord)).toBe('whole');
});

/**
 * A node that answers without logs and inner instructions until `tellsAll` is set; of the first `failsFirst` requests
 * it fails every other one and answers the rest with null. It notes its requests.
 */
function halfRecorded(failsFirst = 0) {
  const whole = JSON.parse(Buffer.from(toJson(run([theirs({ call: ours() })]), false)).toString());
  const asked: string[] = [];
  const node = { tellsAll: false };
  const getTransaction = async (signature: string) => {
    asked.push(signature);
    if (asked.length <= failsFirst && asked.length % 2 === 0) throw new Error('timed out');
    if (asked.length <= failsFirst) return null;
    const landed = { ...whole, slot: 30, transaction: { ...whole.transaction, signatures: [signature] } };
    if (node.tellsAll) return landed;
    return { ...landed, meta: { ...landed.meta, innerInstructions: null, logMessages: null } };
  };
  return { rpc: { getTransaction } as unknown as Rpc, asked, node };
}

test('neither a failed request nor a null reply counts as an incomplete reply: the transaction is soon requested again', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.useFakeTimers();
  const abort = new AbortController();
  const { rpc, asked, node } = halfRecorded(14);
  const sent: LogRecord[] = [];
  const reader = createCutLogsReader({
    ...{ rpc, logger: createLogger('silent', 'test'), signal: abort.signal },
    send: async (records) => void sent.push(...records),
  });
  reader.addKnown([rowOf(1)]);
  for (let step = 0; asked.length < 15 && step < 1_000; step += 1) await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(15);
  node.tellsAll = true;
  for (let step = 0; sent.length < 1 && step < 1_000; step += 1) await vi.advanceTimersByTimeAsync(100);
  abort.abort();
  expect(sent).toHaveLength(1);
  expect(asked).toHaveLength(16);
});

test('a transaction that no node returns whole is requested ever more rarely, and no more once it is whole', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  vi.useFakeTimers();
  const abort = new AbortController();
  const { rpc, asked, node } = halfRecorded();
  const sent: LogRecord[] = [];
  const reader = createCutLogsReader({
    ...{ rpc, logger: createLogger('silent', 'test'), signal: abort.signal },
    send: async (records) => void sent.push(...records),
  });
  // One transaction that both stream and store have, and one that only the store has.
  reader.add({ signature: rawOf(1), slot: 30n, index: 3 } as unknown as TransactionUpdate, null);
  const looks = async (minutes: number) => {
    const before = asked.length;
    for (let minute = 0; minute < minutes; minute += 1) {
      reader.addKnown([rowOf(2), rowOf(1)]);
      await vi.advanceTimersByTimeAsync(60_000);
    }
    return asked.length - before;
  };
  await looks(9);
  expect(asked).toHaveLength(14);
  // After 10 minutes, 20 more and 40 more.
  expect(await looks(11)).toBe(2);
  expect(await looks(20)).toBe(2);
  expect(await looks(24)).toBe(0);
  expect(await looks(16)).toBe(2);
  // At most once a day, however long it has been incomplete.
  await looks(5 * 24 * 60);
  expect(await looks(10 * 24 * 60)).toBeLessThanOrEqual(20);
  expect(sent).toEqual([]);
  node.tellsAll = true;
  expect(await looks(25 * 60)).toBe(2);
  expect(sent).toHaveLength(2);
  expect(await looks(3 * 24 * 60)).toBe(0);
  abort.abort();
});

/** A node that has each transaction cut as in the stream; notes its requests. */
function cutEverywhere() {
  const cut = JSON.parse(Buffer.from(toJson(run([ours()]), false)).toString());
  const asked: string[] = [];
  const held: (() => void)[] = [];
  let isHeld = false;
  const getTransaction = async (signature: string) => {
    asked.push(signature);
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve));
    return { ...cut, slot: 30, transaction: { ...cut.transaction, signatures: [signature] } };
  };
  const hold = () => {
    isHeld = true;
  };
  const go = () => {
    isHeld = false;
    for (const resolve of held.splice(0)) resolve();
  };
  return { rpc: { getTransaction } as unknown as Rpc, asked, held, hold, go };
}

const rawOf = (n: number) => new Uint8Array(64).fill(7).with(0, n);
const rowOf = (n: number) => ({ signature: encodeBase58(rawOf(n)), slot: 30n, blockTime: null });

test('transactions whose logs are cut on every node are read once per process, however many there are', async () => {
  const abort = new AbortController();
  const { rpc, asked } = cutEverywhere();
  const sent: LogRecord[] = [];
  const reader = createCutLogsReader({
    ...{ rpc, logger: createLogger('silent', 'test'), signal: abort.signal },
    send: async (records) => void sent.push(...records),
    ...{ mostKnown: 3, mostWaiting: 4 },
  });
  const rows = Array.from({ length: 10 }, (_, n) => rowOf(n));
  // Each look at the store finds room in the queue for some more of them.
  for (const there of [4, 8, 10]) {
    reader.addKnown(rows);
    await awaited(() => expect(sent.length).toBeGreaterThanOrEqual(there));
  }
  expect(asked.toSorted()).toEqual(rows.map(({ signature }) => signature).toSorted());
  reader.addKnown(rows);
  const one = rowOf(11);
  reader.addKnown([...rows, one]);
  await awaited(() => expect(sent.length).toBeGreaterThanOrEqual(11));
  abort.abort();
  expect(asked).toHaveLength(11);
  expect(asked.at(-1)).toBe(one.signature);
});

test('a transaction from the stream is read although the queue of stored ones is full', async () => {
  const abort = new AbortController();
  const { rpc, asked, held, hold, go } = cutEverywhere();
  const reader = createCutLogsReader({
    ...{ rpc, logger: createLogger('silent', 'test'), signal: abort.signal, send: async () => {} },
    mostWaiting: 4,
  });
  hold();
  reader.addKnown(Array.from({ length: 10 }, (_, n) => rowOf(n)));
  await awaited(() => expect(held.length).toBeGreaterThan(0));
  const update = { signature: rawOf(20), slot: 30n, index: 3 } as unknown as TransactionUpdate;
  reader.add(update, null);
  await awaited(() => expect(asked).toContain(rowOf(20).signature));
  go();
  abort.abort();
});
