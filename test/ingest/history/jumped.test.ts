import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { POLITE, type RpcManners } from '../../../devnet/rpc/manners.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { placesToHaveMade } from '../../../ingest/history/unlisted-stretches.ts';
import { listWindow } from '../../../ingest/verify/verify-window.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';
import { ledgerTransactions } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

/** What the node jumped over. */
const HOLE = { fromSlot: 60n, toSlot: 260n };
const NO_BLOCKS = /^the node has no blocks about slot \d+$/;

let stage: StreamStage;
let whole: RpcServer;
const stop: AbortController[] = [];

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'jumped', policies: 5 });
  await stage.live(320);
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  whole = await serveRpc({ ledger: stage.chain, port: 0 });
});
afterEach(() => {
  for (const one of stop.splice(0)) one.abort();
  stage.rpc.faults.behave(POLITE);
});
afterAll(async () => {
  await whole.close();
  await stage.close();
});

const inside = ({ fromSlot, toSlot }: typeof HOLE) =>
  ledgerTransactions(stage.chain)
    .filter(({ slot }) => slot >= fromSlot && slot <= toSlot)
    .map(({ signature }) => signature);
/** Of what did something in a gap, what is not among these. */
const lackingIn = (gap: typeof HOLE, found: readonly string[]) => {
  const all = new Set(found);
  return inside(gap).filter((signature) => !all.has(signature));
};

interface Closing {
  said: (string | null)[];
  isClosed(): boolean;
  read(): string[];
}

function closing(gap: typeof HOLE, manners: Partial<RpcManners>, more: readonly string[] = []): Closing {
  stage.rpc.faults.behave(manners);
  const abort = new AbortController();
  stop.push(abort);
  const records: LogRecord[] = [];
  const said: (string | null)[] = [];
  const gaps = createGapCloser({
    rpc: createRpc([stage.rpc.url, ...more], { commitment: 'confirmed' }),
    log: { append: async (added) => void records.push(...added), close: async () => {} },
    ...{ programId: stage.chain.programId, signal: abort.signal },
    logger: createLogger('silent', 'test'),
    onStalled: (reason) => said.push(reason),
  });
  gaps.add({ ...gap, toTime: null });
  return {
    said,
    isClosed: () => records.some((record) => record.kind === 'gap' && record.closed),
    read: () =>
      records.flatMap((record) => (record.kind === 'transaction' ? [encodeBase58(record.signature)] : [])),
  };
}

describe('a gap', () => {
  test.each([
    ['is what the node jumped over', HOLE],
    ['is in what the node jumped over', { fromSlot: 150n, toSlot: 155n }],
    ['reaches into what the node jumped over', { fromSlot: 255n, toSlot: 300n }],
    ['has what the node jumped over inside', { fromSlot: 5n, toSlot: 300n }],
  ])('that %s stays open, and says so, until a node is whole', async (_, gap) => {
    expect(inside(gap).length).toBeGreaterThan(0);
    const one = closing(gap, { jumped: HOLE });
    await awaited(() => expect(one.said.length > 0 || one.isClosed()).toBe(true));
    expect(one.said[0]).toMatch(NO_BLOCKS);
    expect(one.isClosed()).toBe(false);
    stage.rpc.faults.behave(POLITE);
    await awaited(() => expect(one.isClosed()).toBe(true));
    expect(lackingIn(gap, one.read())).toEqual([]);
  });

  test.each([
    ['of the same slots', HOLE],
    ['of more', { fromSlot: 0n, toSlot: 300n }],
  ])('%s is closed by another node that is whole', async (_, gap) => {
    const one = closing(gap, { jumped: HOLE }, [whole.url]);
    await awaited(() => expect(one.isClosed()).toBe(true));
    expect(lackingIn(gap, one.read())).toEqual([]);
    expect(one.said).toEqual([]);
  });

  test.each<[string, Partial<RpcManners>]>([
    ['knows no times', { withoutTimes: true }],
    ['tells no times', { lacks: ['getBlockTime'] }],
  ])('in which nothing happened is closed by a node that %s', async (_, manners) => {
    const { slot } = stage.chain.tip();
    const one = closing({ fromSlot: slot - 78n, toSlot: slot - 40n }, manners);
    await awaited(() => expect(one.isClosed()).toBe(true));
    expect(one.said).toEqual([]);
  });
});

test('a window of which a node lists nothing is empty where it made the blocks', async () => {
  const window = { ...HOLE, behind: null, programId: stage.chain.programId, signal: AbortSignal.any([]) };
  const rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  stage.rpc.faults.behave({ jumped: HOLE });
  await expect(listWindow({ rpc, ...window })).rejects.toThrow(NO_BLOCKS);
  const both = createRpc([stage.rpc.url, whole.url], { commitment: 'confirmed' });
  const listed = await listWindow({ rpc: both, ...window });
  const found = listed.map(({ signature }) => signature);
  expect(lackingIn(HOLE, found)).toEqual([]);
});

test('at most sixteen slots are asked for of a page, and none where it lists something every minute', () => {
  const page = (apart: bigint) => Array.from({ length: 1_000 }, (_, at) => 1_000_000n - BigInt(at) * apart);
  const whole = { fromSlot: 0n, toSlot: 2_000_000n };
  const places = (apart: bigint, isEnd = false) =>
    placesToHaveMade(page(apart), { ...whole, above: 1_000_000n, isEnd });
  expect(places(100n)).toEqual([]);
  expect(places(500n)).toHaveLength(16);
  expect(places(100n, true)).toHaveLength(16);
  expect(placesToHaveMade([], { ...whole, above: null, isEnd: true }).map(({ slot }) => slot)).toEqual(
    Array.from({ length: 16 }, (_, at) => (2_000_000n * BigInt(at)) / 15n),
  );
});
