import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createChain, SLOT_MS } from '../../devnet/chain/chain.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import type { Extent } from './compare.ts';
import { createHarness, type Harness } from './harness.ts';
import { coinHistory } from './oracle/history.ts';
import { viewOf } from './oracle/view.ts';

const SEED = process.env.SCENARIO_SEED ?? 'hours-1';
const POLICIES = 12;
/** The stream replays the whole chain, which lasts hours. */
const RETENTION = 1_000_000;
const HOUR_S = 3_600;
const HOUR_SLOTS = 9_000n;
/** Most addresses that the provider takes. Balances come first, four for each policy, so some bankrolls do not fit. */
const FEW = 2 * POLICIES;
/** So long that no stream is started again while its chain rests: without a replay it would know less. */
const SILENCE_MS = 1_200_000;
/** The stream of followed addresses counts as away as soon as it was tried in vain. */
const AWAY = { awayAfterMs: 1_000, rotaMs: 50 };
const ALL: Extent = { includes: (at) => at % 6 === 0, histories: POLICIES };

const random = createRandom(`hours:${SEED}`);
const directory = mkdtempSync(path.join(tmpdir(), 'hours-'));
const chain = createChain({ dir: null, seed: SEED, genesisTime: Date.UTC(2026, 10, 1, 20, 50) });
let life: Life;
let harness: Harness;

async function live(slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot += 1) await chain.produce(life.next());
}

/** Makes blocks here and there over so many hours. */
async function liveHours(hours: number): Promise<void> {
  for (let passed = 0; passed < hours; passed += 0.5) {
    chain.skipTo(chain.tip().slot + HOUR_SLOTS / 2n - BigInt(random.int(0, 400)));
    await live(random.int(2, 5));
  }
}

/** Makes a block in the middle of the next hour, so that no hour ends while something is awaited after it. */
async function skipToHalfPast(): Promise<void> {
  const second = (Math.floor(now() / HOUR_S) + 1.5) * HOUR_S;
  chain.skipTo(BigInt(Math.ceil((second * 1_000 - chain.genesisMs) / SLOT_MS)));
  await chain.produce([]);
}

beforeAll(async () => {
  life = createLife(chain, { seed: SEED, policies: POLICIES, rate: 5, metadataBase: 'http://127.0.0.1:1' });
  while (chain.state().policies.size < POLICIES) await live(1);
  await liveHours(1);
  harness = await createHarness({
    ...{ chain, directory, retentionSlots: RETENTION, silenceMs: SILENCE_MS, away: AWAY },
  });
  await harness.start();
  await harness.settle();
});

// Also after a failed test, the next one has a chain that can be read.
afterEach(() => {
  harness.geyser.faults.scramble(null);
  harness.geyser.become({ replay: 'kept', beside: 'taken', addresses: null });
  harness.rpc.faults.down(null);
});

afterAll(async () => {
  await harness.close();
  rmSync(directory, { recursive: true, force: true });
});

describe(`the history of every policy equals the ledger at the end of each hour and day (SCENARIO_SEED=${SEED})`, () => {
  test('while the stream brings everything, in order and out of order', async () => {
    await harness.expectExact(ALL);
    await liveHours(5);
    harness.geyser.faults.scramble(() => random.next());
    await liveHours(2);
    await harness.expectExact(ALL);
    harness.geyser.faults.scramble(null);
  });

  test('after the stream was dropped and the system stopped and killed, with all that was missed replayed', async () => {
    const before = harness.gaps();
    await liveHours(1);
    harness.geyser.faults.drop();
    await liveHours(1);
    await harness.settle();
    await harness.stop();
    await liveHours(2);
    const product = await harness.start();
    product.crashAfter(random.int(1, 40));
    await harness.until(async () => {
      await liveHours(0.5);
      return product.crashed();
    }, 'it is dead');
    await harness.stop();
    await liveHours(1);
    await harness.start();
    await harness.expectExact(ALL);
    expect(harness.gaps(), 'gaps').toBe(before);
  });

  test('after slots were missed: absent at the ends of hours in between, exact before and behind them', async () => {
    const before = harness.gaps();
    harness.geyser.become({ replay: 'out-of-range' });
    harness.geyser.faults.drop();
    await liveHours(2);
    await harness.settle();
    harness.geyser.become({ replay: 'kept' });
    await liveHours(2);
    await harness.expectExact(ALL);
    expect(harness.gaps(), 'gaps').toBeGreaterThan(before);
  });

  test('while the followed stream is away: absent, whatever is read over RPC, and known again once it is back', async () => {
    // The stream of followed addresses must be level first: else it would miss what the oracle takes for streamed.
    await harness.until(async () => (await indexer()).stream.reason === null, 'it is where the core is');
    harness.geyser.become({ beside: 'unavailable' });
    harness.mayMiss();
    harness.rpc.faults.down('busy');
    await liveHours(2);
    await harness.settle();
    await expectTrueIfTold();
    harness.rpc.faults.down(null);
    await harness.until(async () => (await followed()).overRpc > 0, 'they are read over RPC');
    // Away from an hour's end: a state read in the last slot before that end would be known at it.
    await skipToHalfPast();
    const away = now();
    await allRead(bankrolls());
    await liveHours(1);
    // Nothing is written in the next hour, which readings now and then cannot show.
    chain.skipTo(chain.tip().slot + HOUR_SLOTS);
    await chain.produce([]);
    await allRead(bankrolls());
    const back = now();
    harness.geyser.become({ beside: 'taken' });
    await harness.until(async () => (await followed()).overRpc === 0, 'they are streamed again');
    await liveHours(2);
    await harness.expectExact(ALL);
    expect(await toldBetween(away, back), 'hours of which nobody knows').toBe(0);
    expect(await toldBetween(back, now()), 'hours that were streamed').toBeGreaterThan(0);
  });

  test('while the provider takes few followed addresses: absent for the others, and known again once it takes all', async () => {
    harness.geyser.become({ addresses: FEW });
    harness.mayMiss();
    harness.geyser.faults.drop();
    await harness.until(async () => {
      const { addresses, overRpc } = await followed();
      const { length } = await uncarriedBankrolls();
      return addresses - overRpc === FEW && length > 0 && length < POLICIES;
    }, 'it streams as many as it takes, with some bankrolls among them');
    const capped = now();
    await liveHours(3);
    await harness.settle();
    await expectTrueIfTold();
    await allRead(await uncarriedBankrolls());
    await expectTrueIfTold();
    const told = await toldBetween(capped, now());
    expect(told, 'hours of those that it takes').toBeGreaterThan(0);
    expect(told, 'hours of all').toBeLessThan(hoursBetween(capped, now()) * POLICIES);
    await harness.stop();
    harness.geyser.become({ addresses: null });
    await harness.start();
    await harness.settle();
    const whole = now();
    await liveHours(2);
    await harness.expectExact(ALL);
    expect(await toldBetween(whole, now()), 'hours that were streamed').toBeGreaterThan(0);
  });
});

/** The product's clock. */
const now = () => chain.timeOf(chain.tip().slot);

/** Checks that figures of ended hours are true or absent, even before anything is read again, and some are there. */
async function expectTrueIfTold(): Promise<void> {
  const view = viewOf(chain, false);
  const ended = ({ items }: object & { items?: unknown }) => (items as Record<string, object>[]).slice(0, -1);
  for (const policy of view.policies) {
    const { query, answer } = coinHistory(view, policy, 'hour');
    const served = ended(await harness.get(`/coins/${policy.mint}/history?${query}`));
    const told = ended(answer).map((item, at) =>
      Object.fromEntries(
        Object.entries(item).map(([name, figure]) => {
          const given = served[at]?.[name] as { absent?: boolean };
          return [name, given?.absent === true ? given : figure];
        }),
      ),
    );
    expect(served, policy.mint).toStrictEqual(told);
    const isTold = ({ bankroll }: Record<string, object>) => (bankroll as { absent?: true }).absent !== true;
    expect(served.filter(isTold), `hours of ${policy.mint} that are told`).not.toHaveLength(0);
  }
}

async function indexer(): Promise<{
  followed: { addresses: number; overRpc: number };
  stream: { reason: string | null };
}> {
  return ((await harness.get('/status')) as { indexer: Awaited<ReturnType<typeof indexer>> }).indexer;
}

const followed = async () => (await indexer()).followed;

function bankrolls(): string[] {
  const mints = [...chain.state().policies.values()].map(({ mint }) => mint);
  return mints.map((mint) => chain.addresses.ofPolicy(mint).bankroll);
}

async function uncarriedBankrolls(): Promise<string[]> {
  const uncarried = new Set(await harness.uncarried());
  return bankrolls().filter((address) => uncarried.has(address));
}

/** Waits until each of these addresses was read in its turn from now on, and the readings are served. */
async function allRead(addresses: readonly string[]): Promise<void> {
  const least = addresses.map((address) => [address, harness.reads(address) + 2] as const);
  const areRead = () => least.every(([address, times]) => harness.reads(address) >= times);
  await harness.until(areRead, 'all were read');
  await harness.settle();
}

/** How many hours end between two moments. */
const hoursBetween = (from: number, to: number) => Math.floor(to / HOUR_S) - Math.floor(from / HOUR_S);

/** For how many ended hours between two moments a bankroll is served, over all policies together. */
async function toldBetween(from: number, to: number): Promise<number> {
  const hours = hoursBetween(from, to);
  expect(hours, 'hours that have ended').toBeGreaterThan(0);
  let told = 0;
  for (const { mint } of chain.state().policies.values()) {
    const query = `step=hour&from=${from}&to=${to - (to % HOUR_S)}`;
    const { items } = (await harness.get(`/coins/${mint}/history?${query}`)) as {
      items: { bankroll: { absent: boolean } }[];
    };
    expect(items, `hours of ${mint}`).toHaveLength(hours);
    told += items.filter(({ bankroll }) => !bankroll.absent).length;
  }
  return told;
}
