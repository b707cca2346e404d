import { afterEach, expect, test } from 'vitest';
import { RpcError } from '../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../runtime/rpc/rpc.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { type Answer, type AnsweringServer, deadUrl, serveAnswers } from '../support/answering.ts';

const KEY = encodeBase58(new Uint8Array(32).fill(7));
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(9));
const ACCOUNT = { owner: KEY, lamports: 5, data: [Buffer.from('abc').toString('base64'), 'base64'] };

let server: AnsweringServer | null = null;
afterEach(() => server?.close());

async function rpcAnswering(answer: Answer | null, options = {}): Promise<Rpc> {
  server = await serveAnswers(() => answer);
  return createRpc(server.url, { commitment: 'confirmed', timeoutMs: 20_000, ...options });
}
const result = (value: unknown): Answer => ({ body: { jsonrpc: '2.0', id: 1, result: value } });
const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error('it answered');
    },
    (error: RpcError) => error,
  );

test("an account is read with its context slot, at the client's commitment and the slot that was asked for", async () => {
  const answer = result({ context: { slot: 42 }, value: ACCOUNT });
  const rpc = await rpcAnswering(answer, { commitment: 'finalized' });
  const read = await rpc.getAccountInfo(KEY, { minContextSlot: 40n });
  expect(read.slot).toBe(42n);
  expect(read.account).toMatchObject({ lamports: 5n, owner: new Uint8Array(32).fill(7) });
  expect(Buffer.from(read.account?.data ?? []).toString()).toBe('abc');
  expect(server?.asked[0]?.body).toMatchObject({
    method: 'getAccountInfo',
    params: [KEY, { commitment: 'finalized', minContextSlot: 40, encoding: 'base64' }],
  });
});

test('an account reply may have an unused number that JavaScript cannot hold exactly', async () => {
  const { lamports: _, ...rest } = ACCOUNT;
  const value = JSON.stringify({ ...rest, lamports: 5, rentEpoch: 0 }).replace(
    '"rentEpoch":0',
    '"rentEpoch":18446744073709551615',
  );
  const rpc = await rpcAnswering({ body: `{"id":1,"result":{"context":{"slot":42},"value":${value}}}` });
  expect((await rpc.getAccountInfo(KEY)).account?.lamports).toBe(5n);
});

test('HTTP 413 is a refusal that another node may answer, and a redirect means unreachable', async () => {
  const large = await errorOf((await rpcAnswering({ status: 413, body: '<html>' })).getSlot());
  expect(large).toMatchObject({ kind: 'refused', retryOn: 'anotherNode' });
  await server?.close();
  const moved = { status: 308, headers: { location: 'http://127.0.0.1:1/' }, body: '' };
  expect(await errorOf((await rpcAnswering(moved)).getSlot())).toMatchObject({
    kind: 'unreachable',
    message: 'getSlot: HTTP 308 without JSON',
  });
});

test('an address without an account is null, not an error', async () => {
  const rpc = await rpcAnswering(result({ context: { slot: 42 }, value: null }));
  expect(await rpc.getAccountInfo(KEY)).toEqual({ slot: 42n, account: null });
});

test('error -32016 means behind, an error whose code is not a number means refused', async () => {
  const error = (code: unknown) => ({ status: 200, body: { id: 1, error: { code, message: 'no' } } });
  expect(await errorOf((await rpcAnswering(error(-32016))).getAccountInfo(KEY))).toMatchObject({
    kind: 'behind',
    code: -32016,
  });
  await server?.close();
  expect(await errorOf((await rpcAnswering(error('odd'))).getSlot())).toMatchObject({
    kind: 'refused',
    code: null,
  });
});

test('the time of a skipped slot is null, and any other error of the node is thrown', async () => {
  const error = (code: number) => ({ body: { id: 1, error: { code, message: 'Slot was skipped' } } });
  expect(await (await rpcAnswering(error(-32009))).getBlockTime(9n)).toBeNull();
  await server?.close();
  expect(await errorOf((await rpcAnswering(error(-32603))).getBlockTime(9n))).toBeInstanceOf(RpcError);
});

test.each<[string, Answer]>([
  ['an HTML page of a gateway (502)', { status: 502, body: '<html>bad gateway</html>' }],
  ['an error text in JSON', { status: 401, body: { error: 'unauthorized' } }],
  ['a result with HTTP status 500', { status: 500, body: { id: 1, result: 5 } }],
  ['null', { body: 'null' }],
  ['a list', { body: '[]' }],
  ['a reply without a result', { body: { id: 1 } }],
  ['a slot that is text', result('5')],
  ['a negative slot', result(-5)],
  ['a slot beyond the safe integers', result(1e17)],
  ['a reply of 20,000 characters', result('x'.repeat(20_000))],
])('%s is no answer to getSlot', async (_, answer) => {
  const error = await errorOf((await rpcAnswering(answer)).getSlot());
  expect(error).toBeInstanceOf(RpcError);
  expect(error.kind).toBe('unreachable');
  expect(error.message.length).toBeLessThan(600);
});

test.each<[string, unknown]>([
  ['without a context', { value: ACCOUNT }],
  ['with an owner that is no key', { context: { slot: 1 }, value: { ...ACCOUNT, owner: 'x' } }],
  ['in another encoding', { context: { slot: 1 }, value: { ...ACCOUNT, data: ['x', 'base58'] } }],
  ['with fractional lamports', { context: { slot: 1 }, value: { ...ACCOUNT, lamports: 1.5 } }],
  ['with data that is no base64', { context: { slot: 1 }, value: { ...ACCOUNT, data: ['YW*j', 'base64'] } }],
  ['with truncated base64', { context: { slot: 1 }, value: { ...ACCOUNT, data: ['YWJ', 'base64'] } }],
  ['with an impossible slot', { context: { slot: Number.MAX_SAFE_INTEGER }, value: ACCOUNT }],
  ['with negative lamports', { context: { slot: 1 }, value: { ...ACCOUNT, lamports: -5 } }],
  ['that is a number', 7],
])('an account reply %s is no answer', async (_, value) => {
  const rpc = await rpcAnswering(result(value));
  expect((await errorOf(rpc.getAccountInfo(KEY))).kind).toBe('unreachable');
});

test('fewer accounts than were asked for are no answer', async () => {
  const rpc = await rpcAnswering(result({ context: { slot: 1 }, value: [null] }));
  expect((await errorOf(rpc.getMultipleAccounts([KEY, KEY]))).kind).toBe('unreachable');
});

test('a signature list is read, and one with an entry that is no signature is no answer', async () => {
  const rows = [{ signature: SIGNATURE, slot: 3, blockTime: null, err: { x: 1 } }];
  expect(await (await rpcAnswering(result(rows))).getSignaturesForAddress(KEY, null, 10)).toEqual([
    { signature: SIGNATURE, slot: 3n, blockTime: null, failed: true },
  ]);
  await server?.close();
  const rpc = await rpcAnswering(result([{ signature: KEY, slot: 3 }]));
  expect((await errorOf(rpc.getSignaturesForAddress(KEY, null, 10))).kind).toBe('unreachable');
});

test('a transaction reply is an object or null, anything else is no answer', async () => {
  expect(await (await rpcAnswering(result(null))).getTransaction(SIGNATURE)).toBeNull();
  await server?.close();
  expect((await errorOf((await rpcAnswering(result('x'))).getTransaction(SIGNATURE))).kind).toBe(
    'unreachable',
  );
});

test('a node that hangs, and one that is not there, are unreachable', async () => {
  const rpc = await rpcAnswering(null, { timeoutMs: 50 });
  expect((await errorOf(rpc.getSlot())).kind).toBe('unreachable');
  const nowhere = createRpc(await deadUrl(), { commitment: 'confirmed' });
  expect((await errorOf(nowhere.getSlot())).kind).toBe('unreachable');
});
