import { afterEach, describe, expect, test } from 'vitest';
import { createRpc } from '../../runtime/rpc/rpc.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type Answer, type AnsweringServer, type Asked, serveAnswers } from '../support/answering.ts';

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

describe('a key that is not taken', () => {
  test.each([
    [401, -32600, 'Must be authenticated!'],
    [401, -32602, 'no such key'],
    [402, -32013, 'pay first'],
    [403, -32600, 'not on the list'],
    [403, -32602, 'not of this plan'],
    [400, -32600, 'Unsupported method'],
    [200, -32600, 'Unsupported method'],
  ])('is that of one address: another is asked (%i, %i)', async (status, code, message) => {
    const second = await node(() => result(7));
    const first = await node(() => ({ status, ...error(code, message) }));
    const rpc = rpcOf(first, second);
    expect([await rpc.getSlot(), await rpc.getSlot()]).toEqual([7n, 7n]);
    await expect(rpcOf(first).getProgramAccounts(KEY)).rejects.toMatchObject({ kind: 'refused', code });
  });

  test('is no question that nobody takes: what is wrong in itself is refused once', async () => {
    const second = await node(() => result(7));
    for (const code of [-32602, -32013]) {
      const first = await node(() => ({ status: 400, ...error(code) }));
      await expect(rpcOf(first, second).getSlot()).rejects.toMatchObject({ kind: 'refused', code });
      expect(first.asked).toHaveLength(1);
    }
    expect(second.asked).toHaveLength(0);
  });
});

describe('a transaction that one node does not tell', () => {
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

  test('for its version, is asked of one of a newer release beside it', async () => {
    const newer = await node(() => result(told));
    const first = await old();
    const rpc = rpcOf(first, newer);
    for (let asked = 1; asked <= 3; asked += 1) {
      expect(await rpc.getTransaction(SIGNATURE)).toEqual(told);
      expect([first.asked.length, newer.asked.length]).toEqual([2 * asked, asked]);
    }
  });

  test('for its version, is not missing where another lacks it; each is asked once', async () => {
    const lacking = await node(() => result(null));
    const some = [await old(), await old()] as const;
    await expect(rpcOf(some[0], lacking).getTransaction(SIGNATURE)).rejects.toThrow();
    await expect(rpcOf(...some).getTransaction(SIGNATURE)).rejects.toMatchObject({ kind: 'refused' });
    expect(some.map(({ asked }) => asked.length)).toEqual([4, 2]);
    const beyond = await node(() => error(-32015, 'Transaction version (2)'));
    expect(await rpcOf(beyond, await node(() => result(told))).getTransaction(SIGNATURE)).toEqual(told);
  });
});
