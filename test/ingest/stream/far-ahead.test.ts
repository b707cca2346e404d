import { afterEach, expect, test } from 'vitest';
import { createAccountReader } from '../../../ingest/accounts/account-reader.ts';
import { createSweeper } from '../../../ingest/stream/sweeps/sweep.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { type AnsweringServer, type Asked, serveAnswers } from '../../support/answering.ts';
import { key, rawKey } from '../materialise/support/records.ts';
import { until } from '../support/stream-stage.ts';

/** The stream's slot. */
const BROUGHT = 460_000_000n;
const FAR = BROUGHT + 1_000_000n;
const TWO_DAYS = 432_000n;

const servers: AnsweringServer[] = [];
const stop = new AbortController();
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** A node that answers its reading number `count`, from 1, as of a slot. */
async function node(slotAt: (count: number) => bigint): Promise<string> {
  let count = 0;
  const server = await serveAnswers(({ body }: Asked) => {
    const { id, method, params } = body as { id: number; method: string; params: unknown[] };
    const reply = (result: unknown) => ({ body: { jsonrpc: '2.0', id, result } });
    if (method === 'getBlockTime') return reply(1_000);
    const of = (value: unknown) => reply({ context: { slot: Number(slotAt(++count)) }, value });
    if (method === 'getProgramAccounts') return of([]);
    return of((params[0] as string[]).map(() => null));
  });
  servers.push(server);
  return server.url;
}

const readerOf = (urls: string[], newest: () => bigint | null) =>
  createAccountReader(
    createRpc(urls, { commitment: 'confirmed' }),
    { expectedAt: () => null },
    async () => null,
    newest,
  );
const slotsOf = (records: readonly AccountRecord[]) => [...new Set(records.map(({ slot }) => slot))];

test('a reading at a slot far ahead of the chain is refused, and another node is asked', async () => {
  const [lying, honest] = [await node(() => FAR), await node(() => BROUGHT + 9n)];
  const alone = readerOf([lying], () => null);
  const refusal = { kind: 'unreachable' };
  await expect(alone.read([key('a')], BROUGHT)).rejects.toMatchObject(refusal);
  await expect(alone.readUntrusted([key('a')], BROUGHT, 'mint')).rejects.toMatchObject(refusal);
  await expect(alone.readProgram(key('program'), BROUGHT)).rejects.toMatchObject(refusal);
  await expect(alone.readByPrefix(key('program'), BROUGHT)).rejects.toMatchObject(refusal);
  const both = readerOf([lying, honest], () => null);
  expect(slotsOf(await both.read([key('a')], BROUGHT))).toEqual([BROUGHT + 9n]);
});

test('accounts are read at once if the log ended a day ago, and after the stream has caught up if it ended earlier', async () => {
  const url = await node(() => BROUGHT);
  const dayBehind = BROUGHT - TWO_DAYS / 2n;
  expect(slotsOf(await readerOf([url], () => dayBehind).read([key('a')], dayBehind))).toEqual([BROUGHT]);
  let newest: bigint | null = 1_000n;
  const reader = readerOf([url], () => newest);
  await expect(reader.read([key('a')], 1_000n)).rejects.toThrow();
  newest = BROUGHT - 1n;
  expect(slotsOf(await reader.read([key('a')], 1_000n))).toEqual([BROUGHT]);
});

test('where no slot of the chain is known, a reading at any slot is accepted', async () => {
  const reader = readerOf([await node(() => FAR)], () => null);
  expect(slotsOf(await reader.read([key('a')], 0n))).toEqual([FAR]);
});

test('a sweep that gets one reading from a far slot completes without learning or logging it', async () => {
  const learnt: AccountRecord[] = [];
  const sent: bigint[] = [];
  const addresses = Array.from({ length: 400 }, (_, at) => key(`followed ${at}`));
  const sweeper = createSweeper({
    reader: readerOf([await node((count) => (count === 3 ? FAR : BROUGHT))], () => BROUGHT),
    ...{ programId: rawKey('program'), addresses: () => addresses, mints: () => [], brought: () => BROUGHT },
    ...{ named: async () => [], isKnown: () => true, isHistoryRead: async () => true },
    ...{ learn: (records) => learnt.push(...records), onListed: () => {} },
    send: async (records) =>
      void sent.push(...records.flatMap((one) => (one.kind === 'account' ? [one.slot] : []))),
    ...{ logger: createLogger('silent', 'test'), signal: stop.signal },
  });
  sweeper.request(BROUGHT);
  await until('all is read', () => sent.length >= addresses.length);
  stop.abort();
  expect(new Set(sent)).toEqual(new Set([BROUGHT]));
  expect(slotsOf(learnt)).toEqual([BROUGHT]);
});
