import { afterEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
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

/** A node of another chain, with another genesis and further on. */
async function openOther(): Promise<RpcServer> {
  const chain = createChain({ dir: null, seed: 'another', genesisTime: 1_750_000_000_000 });
  for (let made = 0; made < 200; made += 1) await chain.produce([]);
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  other = { chain, rpc };
  return rpc;
}

test('an RPC node of another chain is reported, and nothing is read from it, until the right one is configured', async () => {
  const rpc = await openOther();
  stage = await openStreamStage({ seed: 'here', policies: 5 });
  const { chain, model } = stage;
  await stage.live(60);
  const wrong = stage.start({ rpcUrl: rpc.url });
  await stage.liveUntil('it is told', () =>
    wrong.events.some((event) => event.type === 'compared' && event.others.length === 1),
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

test.each([
  ['first', (own: string, wrong: string) => [wrong, own], 1],
  ['behind one that is', (own: string, wrong: string) => [own, wrong], 2],
])('a node not of this chain is reported and has no effect, listed %s', async (_, order, number) => {
  const rpc = await openOther();
  stage = await openStreamStage({ seed: 'here', policies: 5 });
  const { chain, model } = stage;
  await stage.live(60);
  const { events } = stage.start({ rpcUrl: order(stage.rpc.url, rpc.url) });
  await stage.live(60);
  // Requests that the right node fails now and then go to the other, whose answer differs.
  stage.rpc.faults.behave({ cutOneIn: 5 });
  await stage.liveUntil('it is told which', () =>
    events.some((event) => event.type === 'compared' && event.others.includes(number)),
  );
  await stage.live(100);
  await stage.settled();
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  expect(events.flatMap((event) => (event.type === 'compared' ? [event] : []))).toEqual([
    { type: 'compared', others: [number], addresses: 2 },
  ]);
});
