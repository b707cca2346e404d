import { afterEach, expect, test } from 'vitest';
import { type Chain, createChain } from '../../../devnet/chain/chain.ts';
import type { ProviderModes } from '../../../devnet/geyser/modes.ts';
import { type GeyserServer, serveGeyser } from '../../../devnet/geyser/server.ts';
import { whyAheadIsRefused } from '../../../ingest/stream/core-stream/chain-ahead.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { deadUrl, serveAnswers } from '../../support/answering.ts';
import { openStreamStage, type Running, type StreamStage } from '../support/stream-stage.ts';

const FAR = 1_000_000n;

let stage: StreamStage | null = null;
const closing: (() => Promise<void>)[] = [];
let other: { chain: Chain; geyser: GeyserServer } | null = null;
afterEach(async () => {
  await stage?.close();
  for (const close of closing.splice(0)) await close();
  await other?.geyser.close();
  other?.chain.close();
  stage = null;
  other = null;
});

/** A stream of another chain, which is further on. */
async function openOther(modes: Partial<ProviderModes>): Promise<string> {
  const chain = createChain({ dir: null, seed: 'ahead', genesisTime: 1_750_000_000_000, firstSlot: FAR });
  const geyser = await serveGeyser({ ledger: chain, port: 0, modes });
  other = { chain, geyser };
  for (let made = 0; made < 20; made += 1) await chain.produce([]);
  return `127.0.0.1:${geyser.port}`;
}

/** A node of a chain that has every slot, with other block times. */
async function openOtherNode(): Promise<string> {
  const results: Record<string, unknown> = { getBlockTime: 1_600_000_000, getSlot: 2_000 };
  const server = await serveAnswers(({ body }) => {
    const { id, method } = body as { id: number; method: string };
    return { body: { jsonrpc: '2.0', id, result: results[method] } };
  });
  closing.push(server.close);
  return server.url;
}

const reasons = ({ events }: Running) =>
  events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));
const taken = ({ model }: StreamStage) => model.markers.transactions.filter((slot) => slot >= FAR);

test.each<[string, Partial<ProviderModes>]>([
  ['refuses the replay', {}],
  ['replays nothing', { replay: 'empty' }],
])(
  'a stream of another chain that is far ahead and %s is reported and not taken; the right one then resumes',
  async (_, modes) => {
    const endpoint = await openOther(modes);
    stage = await openStreamStage({ seed: 'here', policies: 3 });
    const { model } = stage;
    await stage.live(40);
    const first = stage.start();
    await stage.settled();
    await first.stop();
    const position = await model.position();
    const wrong = stage.start({ endpoint, position: model.position });
    await stage.liveUntil('it is told', () => {
      void other?.chain.produce([]);
      const isTold = reasons(wrong).some((reason) => reason.includes('SOLANA_RPC_URL is days behind it'));
      return isTold || taken(stage as StreamStage).length > 0;
    });
    expect(taken(stage)).toEqual([]);
    expect([...model.accounts.values()].filter(({ slot }) => slot >= FAR)).toEqual([]);
    expect((await model.position())?.slot).toBe(position?.slot);
    await wrong.stop();
    stage.start({ position: model.position });
    await stage.live(20);
    await stage.settled();
    expect(await model.openGaps()).toEqual([]);
  },
);

/** A stage whose log ends further back than the stream replays. @returns the chain's slot */
async function longAway(seed: string): Promise<bigint> {
  stage = await openStreamStage({ seed, policies: 3, retentionSlots: 50 });
  await stage.live(30);
  const first = stage.start();
  await stage.settled();
  await first.stop();
  for (let made = 0; made < 1_200; made += 1) await stage.chain.produce([]);
  return stage.chain.tip().slot;
}

const isTaken = ({ model }: StreamStage, from: bigint) =>
  model.markers.transactions.some((slot) => slot >= from);

test('a stream of the same chain resumes after a long absence, whether or not a node answers', async () => {
  const from = await longAway('long-away');
  const { model, start, liveUntil, settled } = stage as StreamStage;
  const alone = start({ position: model.position, rpcUrl: await deadUrl() });
  await liveUntil('it goes on', () => isTaken(stage as StreamStage, from));
  await alone.stop();
  start({ position: model.position });
  await settled();
  expect(await model.openGaps()).toEqual([]);
});

test('a stream of the same chain resumes even if the first RPC address is of a network that is further ahead', async () => {
  const from = await longAway('wrong-first');
  const { model, rpc, start, liveUntil } = stage as StreamStage;
  const running = start({ position: model.position, rpcUrl: [await openOtherNode(), rpc.url] });
  const told = () => reasons(running).filter((reason) => reason.includes('chain than SOLANA_RPC_URL'));
  await liveUntil('it goes on, or is told', () => isTaken(stage as StreamStage, from) || told().length > 0);
  expect(told()).toEqual([]);
});

const NOW = { slot: 5_000_000n, time: 1_000 };
const { signal } = new AbortController();
const node = (tip: bigint, time: (slot: bigint) => Promise<number | null>) => ({
  getSlot: async () => tip,
  getBlockTime: time,
});
const lacking = () => Promise.reject(new RpcError('refused', 'no such method', { code: -32601 }));
const away = () => Promise.reject(new RpcError('unreachable', 'it is away'));

const SAME = node(NOW.slot + 5n, async () => NOW.time);
const OTHER = node(NOW.slot + 5n, async () => 9_000);
const [LAGS, BEHIND] = [NOW.slot - 400_000n, NOW.slot - 500_000n].map((tip) => node(tip, async () => null));
const UNTIMED = node(NOW.slot + 5n, async () => null);
const LACKS_TIMES = node(NOW.slot + 5n, lacking);
const AWAY = { getSlot: away, getBlockTime: away };
const SILENT = {
  getSlot: () => new Promise<bigint>(() => {}),
  getBlockTime: () => new Promise<null>(() => {}),
};

test.each([
  ['the right time', [SAME], null],
  ['another time', [OTHER], 'another chain than'],
  ['a tip that is days behind', [BEHIND], 'days behind it'],
  ['a tip that is less than two days behind', [LAGS], null],
  ['no time, but a tip as far ahead', [UNTIMED], null],
  ['an error for the block time alone', [LACKS_TIMES], null],
  ['an error', [AWAY], null],
  ['nothing at all', [SILENT], null],
  ['another time, and from the other node the right one', [OTHER, SAME], null],
  ['the right time, and from the other node nothing', [SAME, SILENT], null],
  ['another time, and from the other node nothing', [OTHER, SILENT], 'another chain than'],
  ['two other times', [OTHER, OTHER], 'another chain than'],
  ['another time, and from the other node a tip that is days behind', [BEHIND, OTHER], 'another chain than'],
  ['a tip that is days behind, and from the other node one as far ahead', [BEHIND, UNTIMED], null],
])('a stream far ahead is refused if all answers contradict it: nodes give %s', async (_, alone, why) => {
  const options = { reached: 1n, refused: null, signal, patienceMs: 20 };
  const words = await whyAheadIsRefused(NOW, { ...options, rpc: { alone: alone as (typeof SAME)[] } });
  if (why === null) expect(words).toBeNull();
  else expect(words).toContain(why);
});

test.each([
  ['do not answer', [AWAY, SILENT], 'as told before'],
  ['give the right time', [SAME], null],
  ['give no time, but a tip as far ahead', [AWAY, UNTIMED], null],
  ['give another time', [AWAY, OTHER], 'another chain than'],
])('a refused stream stays refused unless an answer allows it: nodes %s', async (_, alone, why) => {
  const options = { reached: 1n, refused: 'as told before', signal, patienceMs: 20 };
  const words = await whyAheadIsRefused(NOW, { ...options, rpc: { alone: alone as (typeof SAME)[] } });
  if (why === null) expect(words).toBeNull();
  else expect(words).toContain(why);
});
