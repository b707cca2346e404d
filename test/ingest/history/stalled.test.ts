import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Gap } from '../../../ingest/history/gap.ts';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { listWindow } from '../../../ingest/verify/verify-window.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../../runtime/rpc/replies.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import { awaited } from '../../support/awaited.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

test('history that keeps failing reports a stall reason without the URL of the node, and clears it once it goes on', async () => {
  const stage = await openStreamStage({ seed: 'stalled', policies: 3 });
  await stage.live(20);
  const { slot: toSlot } = stage.chain.tip();
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  const real = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  let isDead = true;
  const refused = new RpcError('unreachable', 'http://KEY@node.example is away', {
    cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
  });
  const rpc = new Proxy(real, {
    get: (target, name) => (isDead ? () => Promise.reject(refused) : Reflect.get(target, name)),
  }) as Rpc;
  const said: (string | null)[] = [];
  const stop = new AbortController();
  const gaps = createGapCloser({
    ...{ rpc, programId: stage.chain.programId, signal: stop.signal },
    log: { append: async () => {}, close: async () => {} },
    logger: createLogger('silent', 'test'),
    onStalled: (reason) => said.push(reason),
  });
  gaps.add({ fromSlot: 0n, toSlot, toTime: null });
  await awaited(() => expect(said.length).toBeGreaterThan(1));
  expect(new Set(said)).toEqual(new Set(['SOLANA_RPC_URL (refused)']));
  isDead = false;
  await gaps.idle();
  expect(said.indexOf(null)).toBe(said.length - 1);
  stop.abort();
  await stage.close();
});

test('history that waits 30 s for a node that stands still reports it, and clears that once the node goes on', async () => {
  const stage = await openStreamStage({ seed: 'unsettled', policies: 3 });
  await stage.live(20);
  const { slot: toSlot } = stage.chain.tip();
  const clock = performance.now.bind(performance);
  let passed = 0;
  const clocked = vi.spyOn(performance, 'now').mockImplementation(() => clock() + passed);
  onTestFinished(() => clocked.mockRestore());
  const rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  const asked = vi.spyOn(rpc, 'getSlot');
  const said: (string | null)[] = [];
  const stop = new AbortController();
  const gaps = createGapCloser({
    ...{ rpc, programId: stage.chain.programId, signal: stop.signal },
    log: { append: async () => {}, close: async () => {} },
    logger: createLogger('silent', 'test'),
    onStalled: (reason) => said.push(reason),
    // The stream has gone on.
    reached: () => toSlot + 32n,
  });
  gaps.add({ fromSlot: 0n, toSlot, toTime: null });
  await awaited(() => expect(asked.mock.calls.length).toBeGreaterThan(1));
  expect(said).toEqual([]);
  passed = 30_000;
  await awaited(() => expect(said.length).toBeGreaterThan(0));
  expect(said).toEqual([`the node is at slot ${toSlot}, not 32 slots past ${toSlot}`]);
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  await gaps.idle();
  expect(said.slice(1)).toEqual([null]);
  stop.abort();
  await stage.close();
});

test('a closed slot that is reopened for an unreadable transaction is closed again; a stale stored gap is ignored', async () => {
  const stage = await openStreamStage({ seed: 'unread-again', policies: 3 });
  await stage.live(40);
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  const rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
  const [newest] = await rpc.getSignaturesForAddress(stage.chain.programId, null, 1);
  if (newest === undefined) throw new Error('nothing happened');
  const { slot, signature } = newest;
  const gap = { fromSlot: slot, toSlot: slot, toTime: null, signature };
  const told: string[] = [];
  const stop = new AbortController();
  const gaps = createGapCloser({
    ...{ rpc, programId: stage.chain.programId, signal: stop.signal },
    log: { append: async () => {}, close: async () => {} },
    logger: createLogger('silent', 'test'),
    onGap: (_, open) => told.push(open ? 'open' : 'closed'),
  });
  gaps.unread(gap);
  gaps.unread(gap);
  await gaps.idle();
  expect(told.filter((one) => one === 'closed')).toHaveLength(1);
  expect(told.at(-1)).toBe('closed');
  // The store may still list a gap that was closed.
  gaps.add(gap);
  await gaps.idle();
  expect(told.filter((one) => one === 'closed')).toHaveLength(1);
  gaps.unread(gap);
  await gaps.idle();
  expect(told.filter((one) => one === 'closed')).toHaveLength(2);
  stop.abort();
  await stage.close();
});

/**
 * Stall reasons until the refusals end. The first failure is not reported: it takes one failure more than the number
 * after which an unknown place is given up.
 */
const MOST_LOST = 3;

describe('when a node refuses the signature from which a list goes on', () => {
  let stage: StreamStage;
  let real: Rpc;
  let place: string;
  let gap: Gap;
  beforeAll(async () => {
    stage = await openStreamStage({ seed: 'refused-place', policies: 3 });
    await stage.live(60);
    for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
    real = createRpc(stage.rpc.url, { commitment: 'confirmed' });
    const all = await real.getSignaturesForAddress(stage.chain.programId, null, 1_000);
    const { signature, slot } = all[Math.floor(all.length / 2)] as SignatureInfo;
    place = signature;
    gap = { fromSlot: 0n, toSlot: slot - 1n, toTime: null, before: place };
  });
  afterAll(() => stage.close());

  /**
   * Closes the gap over a node that refuses the place until `most` stall reasons were reported.
   * @returns the places from which lists were asked, and the reasons
   */
  async function closed(refusal: RpcError, most: number) {
    const lists: (string | null)[] = [];
    const said: (string | null)[] = [];
    const done = Promise.withResolvers<void>();
    const rpc: Rpc = {
      ...real,
      getSignaturesForAddress: async (address, before, limit, options) => {
        if (limit > 1) lists.push(before);
        if (before === place && said.length < most) throw refusal;
        return real.getSignaturesForAddress(address, before, limit, options);
      },
    };
    const gaps = createGapCloser({
      ...{ rpc, programId: stage.chain.programId, signal: new AbortController().signal },
      log: { append: async () => {}, close: async () => {} },
      logger: createLogger('silent', 'test'),
      onStalled: (reason) => said.push(reason),
      onGap: (_, isOpen) => isOpen || done.resolve(),
    });
    gaps.add(gap);
    await done.promise;
    await gaps.idle();
    return { lists, said };
  }

  /** The node cannot reach its storage of old history. */
  const away = () =>
    new RpcError('refused', 'Failed to query long-term storage; please try again', { code: -32019 });

  test('as its storage is unreachable, the same signature is asked for again, and the stall reason says so', async () => {
    const { lists, said } = await closed(away(), MOST_LOST);
    expect(lists).not.toContain(null);
    const reason = `SOLANA_RPC_URL (does not reach its storage of what is older than ${place}, error -32019)`;
    expect(new Set(said)).toEqual(new Set([reason, null]));
    expect(said.at(-1)).toBe(null);
  });

  test('as its storage is unreachable, verification fails instead of listing its window from the newest', async () => {
    const lists: (string | null)[] = [];
    const rpc: Rpc = {
      ...real,
      getSignaturesForAddress: async (address, before, limit, options) => {
        if (limit > 1) lists.push(before);
        if (before === place) throw away();
        return real.getSignaturesForAddress(address, before, limit, options);
      },
    };
    const { signal } = new AbortController();
    const { programId } = stage.chain;
    const window = listWindow({ ...gap, rpc, commitment: 'confirmed', programId, behind: place, signal });
    await expect(window).rejects.toBeInstanceOf(RpcError);
    expect(lists).not.toContain(null);
  });

  test.each([-32020, -32602, -32603, null])(
    'for another reason (error %s), the list begins anew from the newest in the end',
    async (code) => {
      const refusal = new RpcError('refused', 'Transaction not found', { code });
      const { lists, said } = await closed(refusal, Number.POSITIVE_INFINITY);
      expect(lists).toContain(null);
      expect(said[0]).toBe(`the node refuses ${place}, from which the list goes on (error ${code})`);
    },
  );
});
