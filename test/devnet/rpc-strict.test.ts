import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { bytesOf } from '../../devnet/program/state/keys.ts';
import { type RpcServer, serveRpc } from '../../devnet/rpc/server.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';

let chain: Chain;
let server: RpcServer;

beforeAll(async () => {
  chain = createChain({ dir: null, seed: 'strict', genesisTime: 1_760_000_000_000, skipChance: 0 });
  const life = createLife(chain, { seed: 'strict', policies: 5 });
  for (let made = 0; made < 60; made += 1) await chain.produce(life.next());
  server = await serveRpc({ ledger: chain, port: 0 });
});
afterAll(async () => {
  await server.close();
  chain.close();
});

const confirmed = { commitment: 'confirmed' };
async function ask(method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(server.url, { method: 'POST', body });
  const { result, error } = (await response.json()) as { result: unknown; error?: unknown };
  return error ?? result;
}
const config = () => chain.addresses.config.address;
const bytes = () => chain.account(bytesOf(config()))?.data as Uint8Array;

describe('accounts', () => {
  const info = (form: object) => ask('getAccountInfo', config(), { ...confirmed, ...form });

  test('are sent in base58 on request but refused over 128 bytes; an unknown encoding is refused', async () => {
    expect(bytes().length).toBeGreaterThan(128);
    const refused = { code: -32600, message: expect.stringMatching(/please use Base64/) };
    expect(await info({ encoding: 'base58' })).toMatchObject(refused);
    const all = await ask('getProgramAccounts', chain.programId, { ...confirmed, encoding: 'base58' });
    expect(all).toMatchObject(refused);
    const dataSlice = { offset: 8, length: 32 };
    const part = encodeBase58(bytes().subarray(8, 40));
    expect(await info({ dataSlice, encoding: 'base58' })).toMatchObject({
      value: { data: [part, 'base58'] },
    });
    expect(await info({ encoding: 'base46' })).toMatchObject({ code: -32602 });
  });

  test('are sent in base64 by default, and for jsonParsed where the node cannot parse them', async () => {
    const data = [Buffer.from(bytes()).toString('base64'), 'base64'];
    expect(await info({})).toMatchObject({ value: { data } });
    expect(await info({ encoding: 'jsonParsed' })).toMatchObject({ value: { data } });
    expect(await ask('getMultipleAccounts', [config()], confirmed)).toMatchObject({ value: [{ data }] });
  });

  test('a dataSlice applies to getAccountInfo and getProgramAccounts, and space is the full size', async () => {
    const form = { ...confirmed, encoding: 'base64', dataSlice: { offset: 0, length: 8 } };
    const account = { data: [Buffer.from(bytes().subarray(0, 8)).toString('base64'), 'base64'] };
    expect(await info(form)).toMatchObject({ value: { ...account, space: bytes().length } });
    const all = (await ask('getProgramAccounts', chain.programId, form)) as { pubkey: string }[];
    expect(all.find(({ pubkey }) => pubkey === config())).toMatchObject({ account });
  });

  test('are found by a dataSize filter, and an unknown filter is refused', async () => {
    const scan = (filter: object) =>
      ask('getProgramAccounts', chain.programId, { ...confirmed, encoding: 'base64', filters: [filter] });
    expect(await scan({ dataSize: bytes().length })).toMatchObject([{ pubkey: config() }]);
    expect(await scan({ dataSize: 1 })).toEqual([]);
    expect(await scan({ age: 1 })).toMatchObject({ code: -32602 });
  });
});

test('a version 0 transaction is refused unless the request sets maxSupportedTransactionVersion', async () => {
  const of = (isVersioned: boolean) => {
    for (let { slot } = chain.tip(); slot > 0n; slot -= 1n)
      for (const { message, signature } of chain.block(slot)?.transactions ?? [])
        if ((message.lookups !== undefined) === isVersioned) return encodeBase58(signature);
    throw new Error('none');
  };
  expect(await ask('getTransaction', of(true), confirmed)).toMatchObject({
    code: -32015,
    message: expect.stringContaining('Transaction version (0)'),
  });
  const taken = { ...confirmed, maxSupportedTransactionVersion: 0 };
  expect(await ask('getTransaction', of(true), taken)).toMatchObject({ version: 0 });
  expect(await ask('getTransaction', of(false), confirmed)).toMatchObject({ version: 'legacy' });
});
