import { afterEach, describe, expect, test } from 'vitest';
import { BESIDE_MODES, type ProviderModes, REPLAYS } from '../../../devnet/geyser/modes.ts';
import { createRandom, type Random } from '../../../devnet/program/state/random.ts';
import { mannersNamed } from '../../../devnet/rpc/manners.ts';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import { drawnManners } from '../../support/drawn-manners.ts';
import { ledgerTransactions, wrongStates } from '../support/ledger-facts.ts';
import { openStreamStage, type StageOptions, type StreamStage, until } from '../support/stream-stage.ts';

const SEED = process.env.SEED ?? 'providers-1';
const MIXED = process.env.NIGHTLY === undefined ? 3 : 40;
/**
 * Silence after which a stream counts as dead: longer than a busy machine goes without a slot, as a restart without a
 * replay is a gap; and longer than a chain rests while something is awaited.
 */
const PATIENT_MS = 5_000;
let stage: StreamStage;

async function open(modes: Partial<ProviderModes>, options: Partial<StageOptions> = {}): Promise<void> {
  stage = await openStreamStage({ seed: SEED, policies: 10, modes, ...options });
}

afterEach(() => stage.close());

/** Checks that the log has everything, gaps are closed, and every account's newest state is the ledger's. */
async function expectWhole(): Promise<void> {
  const { chain, model } = stage;
  await stage.settled();
  const missing = ledgerTransactions(chain).filter(({ signature }) => !model.transactions.has(signature));
  expect(missing).toEqual([]);
  await stage.restUntil('every state is the newest', () => wrongStates(chain, model).length === 0);
  await stage.settled();
}

const followedIn = (events: readonly StreamEvent[]) => events.findLast(({ type }) => type === 'followed');

const isStreamed = (events: readonly StreamEvent[]) => {
  const told = followedIn(events);
  return told?.type === 'followed' && told.overRpc === 0 && told.reason === null && told.down === null;
};

/** Streams, is dropped in the middle, and streams again. */
async function liveThrough(silenceMs = PATIENT_MS, awayAfterMs = 3_000): Promise<StreamEvent[]> {
  await stage.live(30);
  const { events } = stage.start({ silenceMs, awayAfterMs });
  const released = () => events.filter(({ type }) => type === 'released').length;
  await stage.liveUntil('it streams', () => released() > 5);
  await stage.live(25);
  stage.geyser.faults.drop();
  await stage.live(10);
  const before = released();
  await stage.liveUntil('it streams again', () => released() > before + 5);
  await stage.live(15);
  return events;
}

/**
 * A replay refused as UNAVAILABLE is recognised by whether live slots are served, so no stream may be ended for silence
 * while the chain rests.
 */
const TOLD_BY_LOOKS = 'unavailable';
const PLAIN_REPLAYS = REPLAYS.filter((replay) => replay !== TOLD_BY_LOOKS);

const MODES: [string, Partial<ProviderModes>][] = [
  ...PLAIN_REPLAYS.map((replay): [string, Partial<ProviderModes>] => [`replay ${replay}`, { replay }]),
  ['one named filter of a kind', { named: 1 }],
  ['a cap on addresses that it names', { addresses: 10 }],
  ['a cap on addresses without a number', { addresses: 10, terse: true }],
  ['no address at all', { addresses: 0 }],
  ['requests of at most 1 kB', { requestBytes: 1_024 }],
  ['a stream that lags and is cut', { lag: 400 }],
  ['updates behind their block meta', { late: true }],
  ['three servers with write versions of their own', { servers: 3 }],
  ['updates that name no filter', { nameless: true }],
  ['one stream at a time', { streams: 1 }],
];

describe(`ingestion from a provider (seed ${SEED})`, () => {
  test.each(MODES)(
    'with %s: the log matches the ledger in the end, and gaps are closed',
    async (_, modes) => {
      await open(modes);
      await liveThrough();
      await expectWhole();
    },
  );

  test('with a replay refused as UNAVAILABLE: the log matches the ledger in the end, and the gaps are closed', async () => {
    await open({ replay: TOLD_BY_LOOKS });
    const events = await liveThrough(30_000, 300);
    await expectWhole();
    expect(events.filter((event) => event.type === 'gap' && !event.open).length).toBeGreaterThan(1);
  });

  test.each(Array.from({ length: MIXED }, (_, at) => `${SEED}-${at}`))(
    'with limits and misbehaviour drawn at random (%s): the log matches the ledger in the end',
    async (seed) => {
      const random = createRandom(`modes:${seed}`);
      const [modes, manners] = [drawn(random), drawnManners(random)];
      await open(modes, { seed });
      stage.rpc.faults.behave(mannersNamed(manners));
      try {
        await liveThrough();
        // Without a replay each cut is a gap, and another would open before the last is closed.
        stage.geyser.become({ lag: null });
        await expectWhole();
      } catch (error) {
        throw new Error(JSON.stringify({ modes, manners }), { cause: error });
      }
    },
  );

  test('reports how many addresses beyond a cap are read over RPC, and why', async () => {
    await open({ addresses: 10 });
    const events = await liveThrough();
    await expectWhole();
    await stage.restUntil('all beyond the cap are read over RPC', () => {
      const told = followedIn(events);
      return told?.type === 'followed' && told.overRpc === told.addresses - 10;
    });
    const total = stage.model.accounts.size;
    const followed = followedIn(events) as Extract<StreamEvent, { type: 'followed' }>;
    expect(followed.addresses).toBeLessThanOrEqual(total);
    expect(followed.reason).toBe('the provider takes 10 (the provider refuses the request)');
  });

  test('reports a stream of nothing but pings as not connected, with the reason, until more comes', async () => {
    await open({ pings: true });
    const { events } = stage.start({ silenceMs: 5_000 });
    await stage.live(20);
    await until('the silence is told', () => events.some(({ type }) => type === 'disconnected'));
    expect(events.find(({ type }) => type === 'disconnected')).toMatchObject({
      reason: 'no new slot for 5000 ms',
    });
    expect(events.some(({ type }) => type === 'connected')).toBe(false);
    stage.geyser.become({ pings: false });
    await expectWhole();
  });

  test('reports block metas without a parent as not connected, with the reason, until they have one', async () => {
    await open({ parentless: true });
    await stage.live(20);
    const { events } = stage.start();
    const ends = () => events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));
    await stage.liveUntil('it is told', () => ends().length > 1);
    expect(new Set(ends())).toEqual(new Set(['block metas come without their parent']));
    expect(events.some(({ type }) => type === 'connected')).toBe(false);
    stage.geyser.become({ parentless: false });
    await expectWhole();
  });

  test('ignores meaningless and false updates in front of every block: no stream ends and nothing is lost', async () => {
    await open({});
    const random = createRandom(`odd:${SEED}`);
    stage.geyser.faults.sendOddities(() => random.next());
    await stage.live(20);
    const { events } = stage.start();
    await stage.liveUntil('it streams', () => events.some(({ type }) => type === 'released'));
    await stage.live(80);
    await expectWhole();
    expect(events.filter(({ type }) => type === 'disconnected')).toEqual([]);
    const times = events.flatMap((event) =>
      event.type === 'released' ? [[event.slot, event.blockTime]] : [],
    );
    expect(times).toEqual(times.map(([slot]) => [slot, stage.chain.block(slot as bigint)?.blockTime]));
  });

  test.each(['quota of the day is used up', 'Too many connections: the limit of 5 is reached'])(
    'reports a limit that is reached (%s), and later resumes without a gap, with all addresses streamed',
    async (words) => {
      await open({});
      await stage.live(20);
      const { events } = stage.start();
      await stage.settled();
      const gaps = () => events.filter((event) => event.type === 'gap' && event.open).length;
      const before = gaps();
      stage.geyser.faults.limit(words);
      const ends = () => events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));
      await stage.liveUntil('it was refused again and again', () => ends().length > 4);
      expect(new Set(ends())).toEqual(new Set(["the provider's limit is reached"]));
      stage.geyser.faults.limit(null);
      await expectWhole();
      expect(gaps(), 'gaps').toBe(before);
      await stage.restUntil('all addresses are streamed', () => isStreamed(events));
    },
  );

  test('goes on behind a slot that the provider cannot send, and reads that slot over RPC', async () => {
    await open({});
    await stage.live(20);
    const { events } = stage.start();
    await stage.settled();
    const slot = stage.chain.tip().slot + 5n;
    stage.geyser.faults.choke(new Set([slot]));
    await stage.liveUntil('it goes on behind that', () =>
      events.some((event) => event.type === 'released' && event.slot > slot + 5n),
    );
    await expectWhole();
    const gaps = events.flatMap((event) => (event.type === 'gap' ? [event.gap] : []));
    expect(gaps.some(({ fromSlot, toSlot }) => fromSlot <= slot && slot <= toSlot)).toBe(true);
    await stage.restUntil('all addresses are streamed', () => isStreamed(events));
  });

  test('takes nothing from a chain that began anew, and says so in the reason', async () => {
    await open({});
    await stage.live(30);
    const { events } = stage.start({ position: async () => ({ slot: 5_000n, followed: 5_000n }) });
    const ends = () => events.flatMap((event) => (event.type === 'disconnected' ? [event.reason] : []));
    await stage.liveUntil('it is told', () =>
      ends().some((reason) => reason.includes('follows another chain')),
    );
    expect(stage.model.markers.transactions).toEqual([]);
    expect(events.some(({ type }) => type === 'connected')).toBe(false);
  });

  test('without limits ends no stream while new policies have the filter rewritten all the time', async () => {
    await open({}, { policies: 40 });
    await stage.live(5);
    const { events } = stage.start();
    await stage.live(300);
    await expectWhole();
    expect(events.filter(({ type }) => type === 'followed').length).toBeGreaterThan(20);
    expect(events.filter(({ type }) => type === 'disconnected')).toEqual([]);
    expect(followedIn(events)).toMatchObject({ overRpc: 0, reason: null });
  });
});

function drawn(random: Random): Partial<ProviderModes> {
  const some = <T>(value: T): T | null => (random.chance(0.5) ? value : null);
  return {
    replay: random.pick(PLAIN_REPLAYS),
    named: some(1),
    addresses: some(random.int(0, 60)),
    terse: random.chance(0.5),
    lag: some(random.int(300, 900)),
    late: random.chance(0.5),
    servers: random.int(1, 3),
    nameless: random.chance(0.2),
    beside: random.chance(0.3) ? random.pick(BESIDE_MODES) : 'taken',
    streams: random.chance(0.2) ? 1 : null,
  };
}
