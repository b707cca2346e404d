import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain/chain.ts';
import { createLife } from '../../devnet/life/life.ts';
import { readOptions } from '../../devnet/options.ts';
import { mannersNamed, POLITE } from '../../devnet/rpc/manners.ts';
import { type RpcServer, serveRpc } from '../../devnet/rpc/server.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';

let chain: Chain;
let server: RpcServer;
const POLICIES = 5;

beforeAll(async () => {
  chain = createChain({ dir: null, seed: 'manners', genesisTime: 1_760_000_000_000, skipChance: 0 });
  const life = createLife(chain, { seed: 'manners', policies: POLICIES });
  for (let made = 0; made < 60; made += 1) await chain.produce(life.next());
  server = await serveRpc({ ledger: chain, port: 0 });
});
beforeEach(() => server.faults.behave(POLITE));
afterAll(async () => {
  await server.close();
  chain.close();
});

const post = (method: string, params: unknown[]) =>
  fetch(server.url, { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }) });
async function ask(method: string, ...params: unknown[]) {
  const { result, error } = (await (await post(method, params)).json()) as {
    result: unknown;
    error?: { code: number; message: string };
  };
  return error === undefined ? result : error;
}
const confirmed = { commitment: 'confirmed' };
const base64 = { ...confirmed, encoding: 'base64' };
const listed = (config = {}) =>
  ask('getSignaturesForAddress', chain.programId, { ...confirmed, ...config }) as Promise<
    { signature: string; slot: number; blockTime: number | null }[]
  >;
const transaction = (signature: string, config = {}) =>
  ask('getTransaction', signature, { ...confirmed, maxSupportedTransactionVersion: 1, ...config });

describe('a pool of RPC nodes', () => {
  test('nodes at different slots answer in turn, and one below minContextSlot refuses with -32016', async () => {
    server.faults.behave({ pool: [0, 10, 40] });
    const tip = Number(chain.tip().slot);
    const slots = [];
    for (let at = 0; at < 6; at += 1) slots.push(await ask('getSlot', confirmed));
    expect(slots).toEqual([tip, tip - 10, tip - 40, tip, tip - 10, tip - 40]);
    const codes = [];
    const wanted = { ...confirmed, minContextSlot: tip - 10 };
    for (let at = 0; at < 3; at += 1) codes.push(await ask('getSlot', wanted));
    expect(codes).toEqual([tip, tip - 10, expect.objectContaining({ code: -32016 })]);
  });

  test('a node that is behind answers with accounts as they were at its slot', async () => {
    const address = encodeBase58(chain.tip().writes.at(-1)?.address as Uint8Array);
    const now = (await ask('getAccountInfo', address, base64)) as { value: unknown };
    server.faults.behave({ pool: [1] });
    const before = (await ask('getAccountInfo', address, base64)) as { value: unknown };
    expect(before.value).not.toEqual(now.value);
    const all = (await ask('getProgramAccounts', chain.programId, base64)) as unknown[];
    server.faults.behave({ pool: [59] });
    const earlier = (await ask('getProgramAccounts', chain.programId, base64)) as unknown[];
    expect(earlier.length).toBeLessThan(all.length);
  });
});

test('mismarkedOneIn inverts failure marks in signature lists, while getTransaction stays right', async () => {
  const marks = async () =>
    ((await listed()) as unknown as { signature: string; err: unknown }[]).map(({ err }) => err === null);
  const rightly = await marks();
  server.faults.behave({ mismarkedOneIn: 1 });
  expect(await marks()).toEqual(rightly.map((succeeded) => !succeeded));
  expect(new Set(rightly).size).toBe(2);
  const [newest] = await listed();
  const { meta } = (await transaction(newest?.signature as string)) as { meta: { err: unknown } };
  expect(meta.err === null).toBe(rightly[0]);
});

test('a signature index that is behind lacks recent signatures, which getTransaction still finds', async () => {
  const [newest] = await listed();
  server.faults.behave({ indexBehind: 10 });
  const behind = await listed();
  expect(behind[0]?.slot).toBeLessThanOrEqual(Number(chain.tip().slot) - 10);
  expect(await listed({ before: newest?.signature })).toEqual([]);
  expect(await transaction(newest?.signature as string)).toMatchObject({ slot: newest?.slot });
});

test('slots that a node jumped over are missing from lists, transactions and block times, others are not', async () => {
  const all = await listed();
  const jumped = { fromSlot: 20n, toSlot: 30n };
  const inside = ({ slot }: { slot: number }) => slot >= 20 && slot <= 30;
  const lost = all.find(inside)?.signature as string;
  expect(await transaction(lost)).not.toBeNull();
  server.faults.behave({ jumped });
  expect(await listed()).toEqual(all.filter((one) => !inside(one)));
  expect(await listed({ before: lost })).toEqual([]);
  expect(await transaction(lost)).toBeNull();
  expect(await ask('getBlockTime', 30)).toMatchObject({ code: -32007 });
  expect(await ask('getBlockTime', 31)).toBe(chain.timeOf(31n));
  expect(await ask('getFirstAvailableBlock')).toBe(Number(chain.firstSlot));
});

test('the vote program has a signature in each indexed block, listed newest first', async () => {
  const votes = (limit: number) =>
    ask('getSignaturesForAddress', 'Vote111111111111111111111111111111111111111', { ...confirmed, limit });
  const tip = Number(chain.tip().slot);
  expect(await votes(2)).toMatchObject([{ slot: tip }, { slot: tip - 1 }]);
  server.faults.behave({ indexBehind: 10 });
  expect(await votes(1)).toMatchObject([{ slot: tip - 10 }]);
});

test('a rate-limited request gets 429 with Retry-After and is counted as 429, not under its method', async () => {
  server.faults.behave({ limited: { everyMs: 60_000, forMs: 30_000 } });
  const before = server.asked('getSlot');
  const response = await post('getSlot', []);
  expect([response.status, response.headers.get('retry-after')]).toEqual([429, '30']);
  expect([server.asked('429'), server.asked('getSlot')]).toEqual([1, before]);
});

test('with cutOneIn 2 every second reply is cut short', async () => {
  server.faults.behave({ cutOneIn: 2 });
  expect(await ask('getSlot', confirmed)).toBe(Number(chain.tip().slot));
  await expect(ask('getSlot', confirmed)).rejects.toThrow(SyntaxError);
});

test('a transaction is withheld, or sent without its meta, exactly as many times as configured', async () => {
  const [{ signature } = { signature: '' }] = await listed();
  const affects = (one: string) => one === signature;
  server.faults.behave({ withheld: { affects, times: 2 }, bare: { affects, times: 1 } });
  const answers = [];
  for (let at = 0; at < 4; at += 1) answers.push(await transaction(signature));
  expect(answers).toEqual([
    null,
    null,
    expect.objectContaining({ meta: null }),
    expect.objectContaining({ meta: expect.objectContaining({ err: null }) }),
  ]);
});

test.each([
  ['all blocks before a given slot', (tip: bigint) => ({ firstBlock: tip - 20n })],
  ['all but the newest 20 slots', () => ({ keeps: 20n })],
])('pruned blocks are missing from lists, transactions and block times: %s', async (_, manners) => {
  const { slot: tip } = chain.tip();
  const firstBlock = tip - 20n;
  const before = await listed();
  server.faults.behave(manners(tip));
  const after = await listed();
  expect(after).toEqual(before.filter(({ slot }) => slot >= firstBlock));
  expect(await transaction(before.at(-1)?.signature as string)).toBeNull();
  expect(await listed({ before: before.at(-2)?.signature })).toEqual([]);
  expect(await ask('getFirstAvailableBlock')).toBe(Number(firstBlock));
  expect(await ask('getBlockTime', 1)).toMatchObject({ code: -32001 });
});

test('a version 1 transaction is refused to a client that takes only 0, and by a node that knows only 0', async () => {
  server.faults.behave({ versionOne: true });
  const answers = new Map<unknown, string>();
  for (const { signature } of await listed()) {
    const answer = (await transaction(signature)) as { version: unknown };
    answers.set(answer.version, signature);
  }
  const one = answers.get(1) as string;
  expect(await transaction(one, { maxSupportedTransactionVersion: 0 })).toMatchObject({ code: -32015 });
  server.faults.behave({ versionOne: false, mostVersion: 0 });
  expect(await transaction(one)).toMatchObject({ code: -32602 });
});

test('withoutTimes answers null for every block time', async () => {
  server.faults.behave({ withoutTimes: true });
  const [newest] = await listed();
  expect(newest?.blockTime).toBeNull();
  expect(await ask('getBlockTime', newest?.slot)).toBeNull();
  expect(await transaction(newest?.signature as string)).toMatchObject({ blockTime: null });
});

test('frugal takes only filtered getProgramAccounts and caps accounts and signatures; unlisted takes none', async () => {
  const scan = (config = {}) =>
    ask('getProgramAccounts', chain.programId, { ...confirmed, encoding: 'base64', ...config });
  const all = (await scan()) as { account: { data: [string, string] } }[];
  expect(all.length).toBeGreaterThan(POLICIES);
  const first = Buffer.from(all[0]?.account.data[0] as string, 'base64').subarray(0, 8);
  const filters = [{ memcmp: { offset: 0, bytes: encodeBase58(first) } }];
  server.faults.behave(mannersNamed(['frugal']));
  expect(await scan()).toMatchObject({ code: -32601 });
  const some = (await scan({ filters })) as unknown[];
  expect(some.length).toBeGreaterThan(0);
  expect(some.length).toBeLessThan(all.length);
  const addresses = Array.from({ length: 6 }, () => chain.programId);
  expect(await ask('getMultipleAccounts', addresses, confirmed)).toHaveProperty('code');
  expect(await ask('getMultipleAccounts', addresses.slice(1), confirmed)).toHaveProperty('value');
  expect(await listed({ limit: 101 })).toHaveProperty('code');
  expect(await listed({ limit: 100 })).toHaveProperty('length');
  server.faults.behave(mannersNamed(['unlisted']));
  expect(await scan({ filters })).toMatchObject({ code: -32601 });
});

test('--rpc-manners takes several names, combines what they set and refuses unknown ones', () => {
  expect(readOptions(['--rpc-manners', 'pool,cut'], 0)?.rpcManners).toEqual(['pool', 'cut']);
  expect(mannersNamed(['pool', 'cut'])).toEqual({ pool: [0, 17, 40], cutOneIn: 7 });
  expect(() => readOptions(['--rpc-manners', 'rude'], 0)).toThrow(/--rpc-manners knows no "rude"/);
});
