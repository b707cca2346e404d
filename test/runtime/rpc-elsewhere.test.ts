import { afterEach, describe, expect, test, vi } from 'vitest';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { RpcNode } from '../../runtime/rpc/node.ts';
import { createRpcPool } from '../../runtime/rpc/pool.ts';
import { createRpc, type NodeWaits } from '../../runtime/rpc/rpc.ts';
import { createSlotsWithoutTime } from '../../runtime/rpc/slots-without-time.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type Answer, type AnsweringServer, type Asked, serveAnswers } from '../support/answering.ts';
import { awaited } from '../support/awaited.ts';

const KEY = encodeBase58(new Uint8Array(32).fill(7));
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

const servers: AnsweringServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function node(answer: (asked: Asked) => Answer | null): Promise<AnsweringServer> {
  const server = await serveAnswers(answer);
  servers.push(server);
  return server;
}
const result = (value: unknown): Answer => ({ body: { jsonrpc: '2.0', id: 1, result: value } });
const error = (code: number, message = 'no'): Answer => ({ body: { id: 1, error: { code, message } } });
const rpcOf = (...nodes: readonly AnsweringServer[]) =>
  createRpc(
    nodes.map(({ url }) => url),
    { commitment: 'confirmed', timeoutMs: 20_000 },
  );

describe('a request that one node refuses', () => {
  test.each([
    [401, -32600, 'Must be authenticated!'],
    [401, -32602, 'no such key'],
    [402, -32013, 'pay first'],
    [403, -32600, 'not on the list'],
    [403, -32602, 'not of this plan'],
    [400, -32600, 'Unsupported method'],
    [200, -32600, 'Unsupported method'],
  ])(
    'goes to the next node when refused for key, plan or method (HTTP %i, code %i)',
    async (status, code, message) => {
      const second = await node(() => result(7));
      const first = await node(() => ({ status, ...error(code, message) }));
      const rpc = rpcOf(first, second);
      expect([await rpc.getSlot(), await rpc.getSlot()]).toEqual([7n, 7n]);
      await expect(rpcOf(first).getProgramAccounts(KEY)).rejects.toMatchObject({ kind: 'refused', code });
    },
  );

  test('fails as refused, not as unreachable, when it asks for too much and the other node is away', async () => {
    const first = await node(() => error(-32600, 'You can make this request with up to a 10 block range'));
    const away = await node(() => ({ status: 503, body: 'away' }));
    await expect(rpcOf(first, away).getSlot()).rejects.toMatchObject({ kind: 'refused', code: -32600 });
    expect(away.asked.length).toBeGreaterThan(0);
  });

  test('fails at once and goes to no other node when it is invalid in itself (-32602, -32013)', async () => {
    const second = await node(() => result(7));
    for (const code of [-32602, -32013]) {
      const first = await node(() => ({ status: 400, ...error(code) }));
      await expect(rpcOf(first, second).getSlot()).rejects.toMatchObject({ kind: 'refused', code });
      expect(first.asked).toHaveLength(1);
    }
    expect(second.asked).toHaveLength(0);
  });
});

describe('getTransaction over several nodes', () => {
  const told = { slot: 4, version: 1, meta: { err: {} } };
  const versionIn = ({ body }: Asked) =>
    (body as { params: [string, { maxSupportedTransactionVersion: number }] }).params[1]
      .maxSupportedTransactionVersion;
  const old = () =>
    node((asked) =>
      versionIn(asked) === 0
        ? error(-32015, 'Transaction version (1) is not supported by the requesting client')
        : error(-32602, 'Invalid params: maxSupportedTransactionVersion'),
    );

  test('a transaction whose version one node does not know comes from a node that does', async () => {
    const newer = await node(() => result(told));
    const first = await old();
    const rpc = rpcOf(first, newer);
    for (let asked = 1; asked <= 3; asked += 1) {
      expect(await rpc.getTransaction(SIGNATURE)).toEqual(told);
      expect([first.asked.length, newer.asked.length]).toEqual([2 * asked, asked]);
    }
  });

  test('a transaction refused for its version is an error, not null, where the other node lacks or refuses it', async () => {
    const lacking = await node(() => result(null));
    const some = [await old(), await old()] as const;
    await expect(rpcOf(some[0], lacking).getTransaction(SIGNATURE)).rejects.toThrow();
    await expect(rpcOf(...some).getTransaction(SIGNATURE)).rejects.toMatchObject({ kind: 'refused' });
    expect(some.map(({ asked }) => asked.length)).toEqual([4, 2]);
    const beyond = await node(() => error(-32015, 'Transaction version (2)'));
    expect(await rpcOf(beyond, await node(() => result(told))).getTransaction(SIGNATURE)).toEqual(told);
  });

  const LOOKUPS = [{ accountKey: KEY, writableIndexes: [0], readonlyIndexes: [] }];
  const tells = (more: object, meta: object | null = {}, lookups: unknown = LOOKUPS) => ({
    slot: 4,
    meta: meta && {
      ...{ err: null, innerInstructions: [], logMessages: [] },
      ...{ loadedAddresses: { writable: [KEY], readonly: [] }, ...meta },
    },
    transaction: { signatures: [SIGNATURE], message: { addressTableLookups: lookups } },
    ...more,
  });
  const ofAnother = { signatures: [encodeBase58(new Uint8Array(64).fill(8))], message: {} };
  const whole = tells({});
  const wanting = {
    'without meta': tells({}, null),
    'without its loaded addresses': tells({}, { loadedAddresses: undefined }),
    'with an empty list of loaded addresses': tells({}, { loadedAddresses: { writable: [], readonly: [] } }),
    'with only some of its loaded addresses': tells({}, {}, [{ ...LOOKUPS[0], readonlyIndexes: [1] }]),
    'without a message': tells({ transaction: { signatures: [SIGNATURE] } }),
    'without signatures': tells({ transaction: { message: {} } }),
    'whose transaction field is null': tells({ transaction: null }),
    'in another slot than the expected one': tells({ slot: 3 }),
  };

  test.each(Object.entries(wanting))('a transaction %s is used only if none is whole', async (_, told) => {
    const [first, second] = [await node(() => result(told)), await node(() => result(whole))];
    expect(await rpcOf(first, second).getTransaction(SIGNATURE, { inSlot: 4n })).toEqual(whole);
    expect(await rpcOf(first).getTransaction(SIGNATURE, { inSlot: 4n })).toEqual(told);
    const lacking = await node(() => result(null));
    expect(await rpcOf(lacking, first).getTransaction(SIGNATURE, { inSlot: 4n })).toEqual(told);
    expect(first.asked).toHaveLength(3);
  });

  test('a reply with a different transaction is no answer: the next node is asked, else the call fails', async () => {
    const first = await node(() => result(tells({ transaction: ofAnother })));
    const second = await node(() => result(whole));
    expect(await rpcOf(first, second).getTransaction(SIGNATURE)).toEqual(whole);
    await expect(rpcOf(first).getTransaction(SIGNATURE)).rejects.toMatchObject({ kind: 'unreachable' });
    expect(first.asked).toHaveLength(2);
  });

  test('the most complete reply is returned when no node has the whole transaction', async () => {
    const bare = await node(() => result(wanting['without meta']));
    const forked = await node(() => result(wanting['in another slot than the expected one']));
    const half = tells({}, { logMessages: null });
    const unrecorded = await node(() => result(half));
    for (const nodes of [
      [forked, bare, unrecorded],
      [unrecorded, bare, forked],
    ])
      expect(await rpcOf(...nodes).getTransaction(SIGNATURE, { inSlot: 4n })).toEqual(half);
  });

  test('no other node is asked when the reply is whole, or when it has no meta and no slot is expected', async () => {
    const second = await node(() => result(whole));
    const plain = [
      whole,
      tells({}, { loadedAddresses: undefined }, []),
      tells({}, {}, undefined),
      tells({}, {}, null),
    ];
    for (const told of plain) {
      const first = await node(() => result(told));
      expect(await rpcOf(first, second).getTransaction(SIGNATURE, { inSlot: 4n })).toEqual(
        JSON.parse(JSON.stringify(told)),
      );
    }
    // Without an expected slot the first node's transaction is enough: another's would only replace it.
    for (const told of [tells({ slot: 3 }), tells({}, null)]) {
      const first = await node(() => result(told));
      expect(await rpcOf(first, second).getTransaction(SIGNATURE)).toEqual(told);
    }
    expect(second.asked).toHaveLength(0);
  });
});

describe('getBlockTime of a slot that one node knows no time of', () => {
  const none = {
    'skipped or lost in a ledger jump': error(
      -32007,
      'Slot 9 was skipped, or missing due to ledger jump to recent snapshot',
    ),
    'missing in long-term storage': error(-32009, 'Slot 9 was skipped, or missing in long-term storage'),
    'already cleaned up': error(-32001, 'Block 9 cleaned up'),
    'stored without a time': result(null),
  };

  test.each(Object.entries(none))('a slot %s has the time of another node, else null', async (_, answer) => {
    const first = await node(() => answer);
    const second = await node(() => result(7));
    expect(await rpcOf(first, second).getBlockTime(9n)).toBe(7);
    expect(await rpcOf(first).getBlockTime(9n)).toBeNull();
    expect(await rpcOf(first, first).getBlockTime(9n)).toBeNull();
    expect([first.asked.length, second.asked.length]).toEqual([4, 1]);
  });

  test('the time is null while the other node is unreachable, and returned once it answers', async () => {
    let isAway = true;
    const first = await node(() => none['skipped or lost in a ledger jump']);
    const second = await node(() => (isAway ? { status: 502 } : result(7)));
    const rpc = rpcOf(first, second);
    expect(await rpc.getBlockTime(9n)).toBeNull();
    isAway = false;
    expect(await awaited(async () => (await rpc.getBlockTime(9n)) ?? Promise.reject(new Error('none')))).toBe(
      7,
    );
  });

  test('a node that asks to be left alone is not waited for, and one that lags is asked only a few times', async () => {
    const first = await node(() => none['skipped or lost in a ledger jump']);
    const second = await node(() => result(7));
    const third = await node(() => error(-32004, 'Block not available for slot 9'));
    const waits: NodeWaits = new Map([[second.url, Number.MAX_SAFE_INTEGER]]);
    const urls = [first, second, third].map(({ url }) => url);
    const rpc = createRpc(urls, { commitment: 'confirmed', timeoutMs: 20_000, waits });
    expect(await rpc.getBlockTime(9n)).toBeNull();
    expect(second.asked).toHaveLength(0);
    expect(third.asked.length).toBeLessThan(5);
  });

  test('once all nodes knew no time, one alone is asked for that slot; another slot is asked of all', async () => {
    const nodes = [
      await node(() => none['skipped or lost in a ledger jump']),
      await node(() => none['stored without a time']),
    ];
    const rpc = rpcOf(...nodes);
    const asked = () => nodes.map((one) => one.asked.length);
    for (let count = 1; count <= 3; count += 1) expect(await rpc.getBlockTime(9n)).toBeNull();
    expect(asked()).toEqual([3, 1]);
    expect(await rpc.getBlockTime(10n)).toBeNull();
    expect(asked()).toEqual([4, 2]);
  });

  test('a node that has not reached the slot yet is asked again until it has', async () => {
    let count = 0;
    const first = await node(() => none['stored without a time']);
    const second = await node(() => {
      count += 1;
      return count < 3 ? error(-32004, 'Block not available for slot 9') : result(7);
    });
    expect(await rpcOf(first, second).getBlockTime(9n)).toBe(7);
  });

  test('a request refused as invalid is an error, not null', async () => {
    const second = await node(() => result(7));
    const first = await node(() => error(-32602));
    await expect(rpcOf(first, second).getBlockTime(9n)).rejects.toMatchObject({ kind: 'refused' });
  });
});

test('a slot without a time is forgotten after five minutes, and as the oldest of more than 10,000', () => {
  let now = 0;
  const withoutTime = createSlotsWithoutTime(() => now);
  withoutTime.add(9n);
  now = 4 * 60_000;
  expect([withoutTime.has(9n), withoutTime.has(10n)]).toEqual([true, false]);
  now = 6 * 60_000;
  expect(withoutTime.has(9n)).toBe(false);
  for (let slot = 0n; slot <= 10_000n; slot += 1n) withoutTime.add(slot);
  expect([withoutTime.has(0n), withoutTime.has(10_000n)]).toEqual([false, true]);
});

test('a refusal with retryOn anotherHealthy is not retried on a node that rests', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const asked: string[] = [];
    const [first, second] = ['first', 'second'].map((name) => ({ ask: async () => name, waitMs: () => 0 }));
    const pool = createRpcPool([first, second] as RpcNode[], 5_000);
    const ask = () =>
      pool.ask(async (one) => {
        asked.push((await one.ask('getSlot', [], 1)) as string);
        throw one === first
          ? new RpcError('refused', 'no', { retryOn: 'anotherHealthy' })
          : new RpcError('unreachable', 'away');
      });
    await expect(ask()).rejects.toThrow('away');
    await expect(ask()).rejects.toThrow('no');
    expect(asked).toEqual(['first', 'second', 'first']);
    vi.advanceTimersByTime(2_000);
    await expect(ask()).rejects.toThrow('away');
  } finally {
    vi.useRealTimers();
  }
});
