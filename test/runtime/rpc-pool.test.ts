import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { RpcError } from '../../runtime/rpc/error.ts';
import { createRpcNode, requestedWaitMs } from '../../runtime/rpc/node.ts';
import { createRpc, type NodeWaits } from '../../runtime/rpc/rpc.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import {
  type Answer,
  type AnsweringServer,
  type Asked,
  deadUrl,
  serveAnswers,
} from '../support/answering.ts';

const KEY = encodeBase58(new Uint8Array(32).fill(7));
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));

const servers: AnsweringServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function node(answer: (asked: Asked, count: number) => Answer | null): Promise<AnsweringServer> {
  let count = 0;
  const server = await serveAnswers((asked) => {
    count += 1;
    return answer(asked, count);
  });
  servers.push(server);
  return server;
}
const result = (value: unknown): Answer => ({ body: { jsonrpc: '2.0', id: 1, result: value } });
const error = (code: number, message = 'no'): Answer => ({ body: { id: 1, error: { code, message } } });
const rpcOf = (urls: readonly string[], timeoutMs = 20_000) =>
  createRpc(urls, { commitment: 'confirmed', timeoutMs });
const versionIn = ({ body }: Asked) =>
  (body as { params: [string, { maxSupportedTransactionVersion: number }] }).params[1]
    .maxSupportedTransactionVersion;

describe('several nodes', () => {
  test('a node that does not answer rests, and the next one is asked meanwhile', async () => {
    const second = await node(() => result(7));
    const rpc = rpcOf([await deadUrl(), second.url]);
    expect([await rpc.getSlot(), await rpc.getSlot()]).toEqual([7n, 7n]);
    const first = await node((_, count) => (count === 1 ? { status: 502, body: '<html>' } : result(5)));
    const both = rpcOf([first.url, second.url]);
    // Time is frozen: the node rests for a second only, and a busy machine may stand still for longer.
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      expect([await both.getSlot(), await both.getSlot()]).toEqual([7n, 7n]);
    } finally {
      vi.useRealTimers();
    }
    expect(first.asked).toHaveLength(1);
  });

  test('a node that is behind is asked again, even though the other one is unreachable', async () => {
    const second = await node((_, count) => (count < 3 ? error(-32016) : result(7)));
    expect(await rpcOf([await deadUrl(), second.url]).getSlot()).toBe(7n);
    expect(second.asked).toHaveLength(3);
  });

  test('an error about the request itself is not retried on another node', async () => {
    const second = await node(() => result(7));
    const first = await node(() => error(-32602));
    await expect(rpcOf([first.url, second.url]).getSlot()).rejects.toMatchObject({ kind: 'refused' });
    expect(second.asked).toHaveLength(0);
  });

  test.each(['E_LIMIT', null, undefined, 1_000_000_000])(
    'an error with a meaningless code (%s) is retried on the next node',
    async (code) => {
      const second = await node(() => result(7));
      const first = await node(() => ({ body: { id: 1, error: { code, message: 'no' } } }));
      expect(await rpcOf([first.url, second.url]).getSlot()).toBe(7n);
    },
  );

  test.each([-32001, -32010, -32011, -32012, -32019, -32601, -32603])(
    'a refusal for what a node keeps or offers (%i) is retried on the next, and the node does not rest',
    async (code) => {
      const second = await node(() => result([]));
      const first = await node(({ body }) =>
        (body as { method: string }).method === 'getSlot' ? result(5) : error(code),
      );
      const rpc = rpcOf([first.url, second.url]);
      expect(await rpc.getSignaturesForAddress(KEY, null, 10)).toEqual([]);
      expect(await rpc.getSlot()).toBe(5n);
      const alone = rpcOf([first.url]).getSignaturesForAddress(KEY, null, 10);
      await expect(alone).rejects.toMatchObject({ kind: 'refused', code });
    },
  );

  test('a transaction that one node lacks comes from another, and is null only where all lack it', async () => {
    const lacking = await node(() => result(null));
    const having = await node(() => result({ slot: 3 }));
    expect(await rpcOf([lacking.url, having.url]).getTransaction(SIGNATURE)).toEqual({ slot: 3 });
    expect(await rpcOf([lacking.url, lacking.url]).getTransaction(SIGNATURE)).toBeNull();
    const some = rpcOf([lacking.url, await deadUrl()]).getTransaction(SIGNATURE);
    await expect(some).rejects.toThrow();
  });

  test('a transaction without recorded logs or inner instructions comes from another node, else as it is', async () => {
    const transaction = { signatures: [SIGNATURE], message: {} };
    const told = (meta: object, err: object | null = null) => ({
      ...{ slot: 3, meta: { err, ...meta }, transaction },
    });
    const recorded = told({ innerInstructions: [], logMessages: [] });
    const having = await node(() => result(recorded));
    for (const meta of [{}, { innerInstructions: null, logMessages: [] }, { innerInstructions: [] }]) {
      const asked = async (answer: object, other: string) =>
        rpcOf([(await node(() => result(answer))).url, other]).getTransaction(SIGNATURE);
      expect(await asked(told(meta), having.url)).toEqual(recorded);
      expect(await asked(told(meta), await deadUrl())).toEqual(told(meta));
      expect(await asked(told(meta, {}), having.url)).toEqual(told(meta, {}));
    }
  });
});

test('a node that is behind or answers below minContextSlot is asked again within the time limit', async () => {
  const pool = await node((_, count) =>
    count === 1 ? error(-32016) : result({ context: { slot: count === 2 ? 5 : 9 }, value: null }),
  );
  const read = await rpcOf([pool.url]).getAccountInfo(KEY, { minContextSlot: 8n });
  expect([read.slot, pool.asked.length]).toEqual([9n, 3]);
  const stale = await node(() => result({ context: { slot: 5 }, value: null }));
  const reading = rpcOf([stale.url], 3_000).getAccountInfo(KEY, { minContextSlot: 8n });
  await expect(reading).rejects.toMatchObject({ kind: 'behind' });
});

test('a request whose reply is cut short is sent again', async () => {
  const cut = await node((_, count) => (count < 3 ? { body: '{"jsonrpc":"2.0","resu' } : result(7)));
  expect(await rpcOf([cut.url]).getSlot()).toBe(7n);
});

test('a request whose connection is lost is sent to the same node again', async () => {
  const lost = { headers: { 'content-length': '500', connection: 'close' }, body: '{' };
  const flaky = await node((_, count) => (count === 1 ? lost : result(7)));
  expect(await rpcOf([flaky.url]).getSlot()).toBe(7n);
  expect(flaky.asked).toHaveLength(2);
});

describe('a node that asks to be left alone', () => {
  test('is not asked again until its Retry-After is over', async () => {
    const busy: Answer = { status: 429, headers: { 'retry-after': '1' }, body: 'slow down' };
    const limited = await node((_, count) => (count === 1 ? busy : result(7)));
    const rpc = rpcOf([limited.url]);
    const begun = performance.now();
    expect(await rpc.getSlot()).toBe(7n);
    expect(performance.now() - begun).toBeGreaterThan(990);
    expect(limited.asked).toHaveLength(2);
  });

  test.each([
    [429, 'slow down'],
    [-32429, 'rate limited'],
    [-32007, '15/second request limit reached'],
    [-32000, 'max usage reached'],
    [-32000, 'too many concurrent requests'],
    [-32000, 'your app has exceeded the RPS limit'],
  ])('may say so by an error in an HTTP 200 reply (%i %s)', async (code, words) => {
    const limited = await node((_, count) => (count === 1 ? error(code, words) : result(7)));
    expect(await rpcOf([limited.url]).getBlockTime(9n)).toBe(7);
    expect(limited.asked).toHaveLength(2);
  });

  test.each([
    [-32005, 'exceeded the RPS limit'],
    [-32016, '50/second request limit reached'],
  ])('is recognised by its message under the code of a lagging node (%i %s)', async (code, words) => {
    const limited = await node(() => error(code, words));
    const one = createRpcNode(limited.url, 5_000);
    await expect(one.ask('getSlot', [], 1_000)).rejects.toMatchObject({ kind: 'unreachable', code });
    expect(one.waitMs()).toBeGreaterThan(0);
    const lagging = await node(() => error(-32005, 'Node is behind by 42 slots'));
    const other = createRpcNode(lagging.url, 5_000);
    await expect(other.ask('getSlot', [], 1_000)).rejects.toMatchObject({ kind: 'behind' });
    expect(other.waitMs()).toBe(0);
  });

  test('is not taken to know no time of a slot, though it uses the code of a skipped slot', async () => {
    const limited = await node(() => error(-32007, '50/second request limit reached'));
    const rpc = createRpc([limited.url], { commitment: 'confirmed', timeoutMs: 500 });
    await expect(rpc.getBlockTime(9n)).rejects.toMatchObject({ kind: 'unreachable' });
    const skipping = await node(() => error(-32007, 'Slot 9 was skipped'));
    expect(await rpcOf([skipping.url]).getBlockTime(9n)).toBeNull();
  });

  test('is left alone by every client that shares its waits; another client asks it', async () => {
    const limited = await node(() => ({ status: 429, headers: { 'retry-after': '60' }, body: 'busy' }));
    const waits: NodeWaits = new Map();
    const options = { commitment: 'confirmed', timeoutMs: 5_000 } as const;
    const [one, other] = [1, 2].map(() => createRpc([limited.url], { ...options, waits }));
    await expect(one?.getSlot()).rejects.toMatchObject({ kind: 'unreachable' });
    await expect(other?.getSlot()).rejects.toThrow('asks to be left alone');
    expect(limited.asked).toHaveLength(1);
    await expect(createRpc([limited.url], options).getSlot()).rejects.toThrow('asks to wait');
    expect(limited.asked).toHaveLength(2);
  });

  test('is not asked at all where the wait exceeds a call’s time limit', async () => {
    const limited = await node(() => ({ status: 503, headers: { 'retry-after': '60' }, body: 'busy' }));
    const rpc = rpcOf([limited.url]);
    await expect(rpc.getSlot()).rejects.toThrow('HTTP 503');
    await expect(rpc.getTransaction(SIGNATURE)).rejects.toThrow(/left alone for \d+ s/);
    expect(limited.asked).toHaveLength(1);
  });

  test('says so in seconds or as a date, and for ten minutes at most', () => {
    expect(requestedWaitMs(200, '5', 0)).toBeNull();
    expect(requestedWaitMs(503, null, 0)).toBeNull();
    expect(requestedWaitMs(429, null, 0)).toBe(1_000);
    expect(requestedWaitMs(429, 'Thu, 01 Jan 1970 00:00:09 GMT', 4_000)).toBe(5_000);
    expect(requestedWaitMs(429, '999999999', 0)).toBe(600_000);
    expect(requestedWaitMs(429, 'soon', 0)).toBe(1_000);
  });
});

test('a page size that a node refuses is halved until it is taken, and stays so for later calls', async () => {
  const limitIn = ({ body }: Asked) => (body as { params: [string, { limit: number }] }).params[1].limit;
  const frugal = await node((asked) =>
    limitIn(asked) > 300 ? error(-32602, 'limit is at most 300') : result([]),
  );
  const rpc = rpcOf([frugal.url]);
  await rpc.getSignaturesForAddress(KEY, null, 1_000);
  await rpc.getSignaturesForAddress(KEY, null, 1_000);
  expect(frugal.asked.map(limitIn)).toEqual([1_000, 500, 250, 250]);
});

test('a signature page that memos make too large is asked of the same node at half the size', async () => {
  const limitIn = ({ body }: Asked) => (body as { params: [string, { limit: number }] }).params[1].limit;
  const entry = { signature: SIGNATURE, slot: 9, err: null, memo: `[1020] ${'\u0001'.repeat(1020)}` };
  const listed = await node((asked) => result(Array.from({ length: limitIn(asked) }, () => entry)));
  const second = await node(() => result([]));
  const rpc = rpcOf([listed.url, second.url]);
  expect(await rpc.getSignaturesForAddress(KEY, null, 1_000)).toHaveLength(500);
  expect(second.asked).toHaveLength(0);
  expect(await rpc.getSignaturesForAddress(KEY, null, 1_000)).toHaveLength(500);
});

test('a node whose reply is too large at any page size is passed over for the next node', async () => {
  const endless = await node(() => result('x'.repeat(5_000_000)));
  const second = await node(() => result([{ signature: SIGNATURE, slot: 9, err: null }]));
  const rpc = rpcOf([endless.url, second.url]);
  expect(await rpc.getSignaturesForAddress(KEY, null, 1_000)).toHaveLength(1);
});

test('a list that is refused at every page size does not lower the page size', async () => {
  const limitIn = ({ body }: Asked) => (body as { params: [string, { limit: number }] }).params[1].limit;
  let well = false;
  const gone = await node(() => (well ? result([]) : error(-32000, 'the maximum is reached')));
  const rpc = rpcOf([gone.url]);
  await expect(rpc.getSignaturesForAddress(KEY, null, 1_000)).rejects.toMatchObject({ kind: 'refused' });
  well = true;
  await rpc.getSignaturesForAddress(KEY, null, 1_000);
  expect(gone.asked.map(limitIn).at(-1)).toBe(1_000);
});

test('getProgramAccounts may take longer than the time limit of other calls', async () => {
  const slow = http.createServer((_, response) => {
    setTimeout(() => response.end(JSON.stringify({ result: { context: { slot: 5 }, value: [] } })), 300);
  });
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
  const rpc = rpcOf([`http://127.0.0.1:${(slow.address() as AddressInfo).port}`], 50);
  await expect(rpc.getAccountInfo(KEY)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(await rpc.getProgramAccounts(KEY)).toEqual({ slot: 5n, accounts: [] });
  slow.closeAllConnections();
  slow.close();
});

describe('maxSupportedTransactionVersion', () => {
  test('is 1, and 0 from then on for a node that does not know 1', async () => {
    const old = await node((asked) =>
      versionIn(asked) > 0
        ? error(-32602, 'Invalid params: maxSupportedTransactionVersion')
        : result({ slot: 3 }),
    );
    const rpc = rpcOf([old.url]);
    expect(await rpc.getTransaction(SIGNATURE)).toEqual({ slot: 3 });
    expect(await rpc.getTransaction(SIGNATURE)).toEqual({ slot: 3 });
    expect(old.asked.map(versionIn)).toEqual([1, 0, 0]);
  });

  test('is 1 again once a node refuses 0 for a transaction of version 1', async () => {
    const pool = await node((asked, count) => {
      if (count === 1) return error(-32602, 'Invalid params: maxSupportedTransactionVersion');
      if (count === 2) return result({ slot: 3 });
      return versionIn(asked) === 0 ? error(-32015, 'Transaction version (1)') : result({ slot: 4 });
    });
    const rpc = rpcOf([pool.url]);
    expect(await rpc.getTransaction(SIGNATURE)).toEqual({ slot: 3 });
    expect(await rpc.getTransaction(SIGNATURE)).toEqual({ slot: 4 });
  });
});

test('no error contains a login or a key of the node’s URL', async () => {
  const telling = await node(({ path }) => error(-32000, `unknown key at ${path} for hunter2`));
  const url = `${telling.url.replace('http://', 'http://me:hunter2@')}/v2/0123456789abcdef`;
  const failure: RpcError = await rpcOf([url])
    .getSlot()
    .catch((reason) => reason);
  expect(failure.message).toContain('unknown key');
  expect(failure.message).not.toMatch(/hunter2|0123456789abcdef/);
});
