import { expect, test } from 'vitest';
import { createAccountReader } from '../../../ingest/accounts/account-reader.ts';
import { createSlotTimes } from '../../../ingest/stream/slot-times.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { key } from '../materialise/support/records.ts';

/** A stream that advances a slot at each look, and a node that knows some times. */
function timesOf(node: Map<bigint, number>, streamAt: bigint) {
  let at = streamAt;
  const asked: bigint[] = [];
  const times = createSlotTimes({
    rpc: {
      getBlockTime: async (slot) => {
        asked.push(slot);
        return node.get(slot) ?? null;
      },
    },
    told: (slot) => (slot <= at && slot > 0n ? 1_000 + Number(slot) : null),
    passed: (slot) => {
      at += 1n;
      return at >= slot;
    },
    signal: new AbortController().signal,
    everyMs: 1,
  });
  return { times, asked };
}

test('a slot that the stream has brought has its time from the stream, and the node is not asked', async () => {
  const { times, asked } = timesOf(new Map(), 50n);
  expect(await times(40n)).toBe(1_040);
  expect(asked).toEqual([]);
});

test('a slot ahead of the stream has its time from the node', async () => {
  expect(await timesOf(new Map([[60n, 7]]), 50n).times(60n)).toBe(7);
});

test('where the node knows no time, the stream is awaited; if it does not reach the slot, the time is null', async () => {
  expect(await timesOf(new Map(), 50n).times(53n)).toBe(1_053);
  expect(await timesOf(new Map(), 50n).times(500n)).toBeNull();
});

test('where the stream does not reach the slot meanwhile, the node is asked once more: it may have been behind', async () => {
  const node = new Map<bigint, number>();
  const { times, asked } = timesOf(node, 50n);
  const told = times(500n);
  expect(asked).toEqual([500n]);
  node.set(500n, 7);
  expect(await told).toBe(7);
  expect(asked).toEqual([500n, 500n]);
});

const METHOD_NOT_FOUND = -32601;
const INTERNAL = -32603;

/** A node that has everything except block times. */
const failing = (error: RpcError): Partial<Rpc> => ({
  getBlockTime: async () => {
    throw error;
  },
  getMultipleAccounts: async (addresses) => ({ slot: 60n, accounts: addresses.map(() => null) }),
});

test.each([METHOD_NOT_FOUND, INTERNAL])(
  'a node that refuses block times with error %i counts as knowing none, and its accounts are still read',
  async (code) => {
    const rpc = failing(new RpcError('refused', 'no', { code })) as Rpc;
    let tries = 0;
    const times = createSlotTimes({
      ...{ rpc, told: () => (tries > 0 ? 1_060 : null), signal: new AbortController().signal, everyMs: 1 },
      passed: () => {
        tries += 1;
        return tries > 1;
      },
    });
    expect(await times(60n)).toBe(1_060);
    const records = await createAccountReader(rpc, { expectedAt: () => null }).read([key('one')], 1n);
    expect(records.map(({ slot, blockTime }) => [slot, blockTime])).toEqual([[60n, null]]);
  },
);

test('reading accounts fails if the node does not answer the question for the block time', async () => {
  const rpc = failing(new RpcError('unreachable', 'away')) as Rpc;
  await expect(createAccountReader(rpc, { expectedAt: () => null }).read([key('one')], 1n)).rejects.toThrow(
    'away',
  );
});
