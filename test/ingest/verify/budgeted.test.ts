import { afterAll, beforeAll, expect, test } from 'vitest';
import { budgeted } from '../../../ingest/verify/budgeted.ts';
import { listWindow } from '../../../ingest/verify/verify-window.ts';
import { createRpc, type ReadOptions } from '../../../runtime/rpc/rpc.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const METHODS = ['getSignaturesForAddress', 'getBlockTime', 'getFirstAvailableBlock'];

let stage: StreamStage;
beforeAll(async () => {
  stage = await openStreamStage({ seed: 'budgeted', policies: 2 });
  await stage.live(20);
  for (let made = 0; made < 100; made += 1) await stage.chain.produce([]);
});
afterAll(() => stage.close());

/** A client with a budget that counts what it takes, and the requests to the node since. */
function counted(onTaken = () => {}, signal = AbortSignal.any([])) {
  const asked = () => METHODS.reduce((sum, method) => sum + stage.rpc.asked(method), 0);
  const before = asked();
  let taken = 0;
  const take = async () => {
    taken += 1;
    onTaken();
    return true;
  };
  const rpc = budgeted(createRpc(stage.rpc.url, { commitment: 'confirmed' }), { take }, signal);
  return { rpc, taken: () => taken, asked: () => asked() - before };
}

/** Options of a read of a transaction to be struck, in a slot around which a node has no blocks. */
const ABOUT_A_HOLE: ReadOptions = { keptFrom: 40n, processedAt: 40n };
const jump = () => stage.rpc.faults.behave({ jumped: { fromSlot: 20n, toSlot: 50n } });

test('each request to list a window takes from the budget, also those for how far back the node keeps', async () => {
  const { rpc, taken, asked } = counted();
  const { programId } = stage.chain;
  const { signal } = new AbortController();
  const window = { commitment: 'confirmed', fromSlot: 0n, toSlot: 60n, behind: null } as const;
  const listed = await listWindow({ ...window, rpc, programId, signal });
  expect(listed.length).toBeGreaterThan(0);
  expect(taken()).toBeGreaterThan(1);
  expect(taken()).toBe(asked());
});

test('each check of the blocks around a slot takes from the budget', async () => {
  jump();
  const { rpc, taken, asked } = counted();
  const reading = rpc.getSignaturesForAddress(stage.chain.programId, null, 1, ABOUT_A_HOLE);
  await expect(reading).rejects.toThrow('no time of a block about');
  expect(taken()).toBeGreaterThan(10);
  // One was taken for the list, which is not asked for as a check fails first.
  expect(taken() - 1).toBe(asked());
});

test('an aborted reading sends no more requests', async () => {
  jump();
  const stop = new AbortController();
  const { rpc, taken, asked } = counted(() => {
    if (taken() === 5) stop.abort();
  }, stop.signal);
  const reading = rpc.getSignaturesForAddress(stage.chain.programId, null, 1, ABOUT_A_HOLE);
  await expect(reading).rejects.toThrow('abort');
  expect(asked()).toBeLessThan(5);
});
