import { expect, onTestFinished, test, vi } from 'vitest';
import { createGapCloser } from '../../../ingest/history/gap-closer.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import { awaited } from '../../support/awaited.ts';
import { openStreamStage } from '../support/stream-stage.ts';

test('history that fails again and again says what it waits for, in words of ours, until it goes on', async () => {
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

test('history that waits for a chain that stands says so, until the chain goes on', async () => {
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

test('a slot that is open again for a transaction that could not be read is closed again', async () => {
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
