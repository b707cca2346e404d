import { afterEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { createSameChain } from '../../../ingest/stream/same-chain.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

let stage: StreamStage | null = null;
let other: { chain: Chain; rpc: RpcServer } | null = null;
afterEach(async () => {
  await stage?.close();
  await other?.rpc.close();
  other?.chain.close();
  stage = null;
  other = null;
});

/** A test network: another genesis, and further on. */
async function openOther(): Promise<RpcServer> {
  const chain = createChain({ dir: null, seed: 'another', genesisTime: 1_750_000_000_000 });
  for (let made = 0; made < 200; made += 1) await chain.produce([]);
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  other = { chain, rpc };
  return rpc;
}

test('of a node of another chain nothing is read, no gap is closed, and it is told; then the right one is named', async () => {
  const rpc = await openOther();
  stage = await openStreamStage({ seed: 'here', policies: 5 });
  const { chain, model } = stage;
  await stage.live(60);
  const wrong = stage.start({ rpcUrl: rpc.url });
  await stage.liveUntil('it is told', () =>
    wrong.events.some((event) => event.type === 'compared' && event.isOther),
  );
  await stage.live(100);
  await stage.restUntil('all of it is marked', () => model.markers.transactions.at(-1) === chain.tip().slot);
  expect(await model.openGaps()).toHaveLength(1);
  expect([...model.accounts.values()].filter(({ source }) => source === 'rpc')).toEqual([]);
  await wrong.stop();
  const { events } = stage.start({ position: model.position });
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  expect(events.some(({ type }) => type === 'compared')).toBe(false);
});

const EPOCH = 432_000n;
const NOWHERE = createRpc('http://127.0.0.1:9', { commitment: 'confirmed' });

test.each([
  ['the same time', 1_000, 90n, true],
  ['a time within what nodes differ by', 1_030, 90n, true],
  ['another time', 5_000, 90n, false],
  ['no time', null, 90n, true],
  ['no time, and a slot far ahead', null, 91n + EPOCH, false],
] as const)('%s of a slot', async (_, time, tip, isSame) => {
  const told: boolean[] = [];
  const rpc = createSameChain({
    rpc: { ...NOWHERE, getBlockTime: async () => time, getSlot: async () => tip },
    slots: { last: 90n, timeOf: () => 1_000 },
    onOther: (isOther) => told.push(isOther),
  });
  const asked = rpc.getSlot().then(
    () => true,
    () => false,
  );
  expect(await asked).toBe(isSame);
  expect(told).toEqual(isSame ? [] : [true]);
});
