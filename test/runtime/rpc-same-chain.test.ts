import { afterEach, expect, test } from 'vitest';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { onlySameChain, type SlotTime } from '../../runtime/rpc/same-chain.ts';
import { serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';

const EPOCH = 432_000;
const PLACE: SlotTime = { slot: 90_000n, time: 1_000 };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Node {
  time: number | null;
  tip: number;
  transaction?: string;
  /** How often it was asked for a block time. */
  asked?: number;
}

/** A node that answers `time` for every slot, `tip` as its own slot, and `transaction` for every signature. */
async function startNode(node: Node): Promise<string> {
  const answers: Record<string, () => unknown> = {
    getBlockTime: () => {
      node.asked = (node.asked ?? 0) + 1;
      return node.time;
    },
    getSlot: () => node.tip,
    getTransaction: () => (node.transaction === undefined ? null : { of: node.transaction }),
  };
  const server = await serveAnswers(({ body }) => {
    const { id, method } = body as { id: number; method: string };
    return { body: { jsonrpc: '2.0', id, result: answers[method]?.() } };
  });
  closing.push(server.close);
  return server.url;
}

const SAME: Node = { time: 1_000, tip: 90_000 };
const OTHER: Node = { time: 5_000, tip: 90_000 };

async function rpcOf(nodes: readonly Node[], place: () => SlotTime | null = () => PLACE) {
  const told: (readonly number[])[] = [];
  const urls = await Promise.all(nodes.map(startNode));
  const rpc = onlySameChain(createRpc(urls, { commitment: 'confirmed', timeoutMs: 5_000 }), {
    place,
    onOthers: (others) => told.push(others),
  });
  return { rpc, told };
}

test.each<[string, Node, boolean, boolean]>([
  ['with the expected time of the slot is used', SAME, true, false],
  ['whose time of the slot is 30 s off is used', { time: 1_030, tip: 90_000 }, true, false],
  ['with another time of the slot is left out and reported', OTHER, false, true],
  ['without a time of the slot but near the tip is used', { time: null, tip: 90_000 }, true, false],
  [
    'without a time of the slot and far ahead of the tip is left out and reported',
    { time: null, tip: 90_001 + EPOCH },
    false,
    true,
  ],
  [
    'without a time of the slot and far behind the tip is left out and not reported',
    { time: null, tip: 88_999 },
    false,
    false,
  ],
])('a node %s', async (_, node, isAsked, isTold) => {
  const { rpc, told } = await rpcOf([node]);
  const asked = rpc.getSlot().then(
    () => true,
    () => false,
  );
  expect(await asked).toBe(isAsked);
  expect(told).toEqual(isTold ? [[1]] : []);
});

test('every node is used while nothing is known of the chain, and one of another chain is left out later', async () => {
  let known: SlotTime | null = null;
  const { rpc, told } = await rpcOf([OTHER], () => known);
  expect(await rpc.getSlot()).toBe(90_000n);
  known = PLACE;
  await expect(rpc.getSlot()).rejects.toThrow('SOLANA_RPC_URL is of another chain than the stream');
  expect(told).toEqual([[1]]);
});

test('a node of another chain stays left out while it gives no time, and is used once its time matches', async () => {
  let known = PLACE;
  const node: Node = { ...OTHER, asked: 0 };
  const { rpc, told } = await rpcOf([node], () => known);
  await expect(rpc.getSlot()).rejects.toThrow('another chain');
  known = { slot: 90_500n, time: 1_200 };
  node.time = null;
  await awaited(async () => {
    await expect(rpc.getSlot()).rejects.toThrow('another chain');
    expect(node.asked).toBe(2);
  });
  node.time = 1_200;
  await awaited(async () => expect(await rpc.getSlot()).toBe(90_000n));
  expect(told).toEqual([[1], []]);
});

test('of several nodes, those of another chain are passed over and reported by their positions', async () => {
  const { rpc, told } = await rpcOf([OTHER, { ...OTHER, tip: 95_000 }, { ...SAME, tip: 90_007 }]);
  expect(await rpc.getSlot()).toBe(90_007n);
  expect(told).toEqual([[1], [1, 2]]);
});

test('a transaction is null where no node of the chain has it, whatever a node of another chain has', async () => {
  const { rpc } = await rpcOf([{ ...OTHER, transaction: 'another' }, SAME]);
  expect(await rpc.getTransaction('signature')).toBeNull();
});
