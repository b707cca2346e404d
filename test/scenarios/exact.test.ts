import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import type { Extent } from './compare.ts';
import { createHarness, type Harness, type Status } from './harness.ts';

const SEED = process.env.SCENARIO_SEED ?? 'exact-1';
const FULL = process.env.SCENARIO === 'full';
/** The whole scenario with each fault, on a chain a tenth as long: what `npm test` has room for. */
const SHORT = process.env.SCENARIO === 'short';
const POLICIES = SHORT ? 60 : 300;
const ACTIONS = SHORT ? 2_000 : 20_000;
/** How many of the actions happen before the index starts, as history. */
const PAST = ACTIONS * 0.75;
/** How far back the stream replays: less than what is missed in the gaps below. */
const RETENTION = 30;
const GENESIS = Date.UTC(2026, 10, 1, 20);
/** About 17 hours, so that 24-hour figures leave events out and there are several days. */
const PAUSE_SLOTS = 150_000n;
const HOUR_SLOTS = 9_000n;
/** Each comparison but the last, which has all policies, compares the own routes of one policy in so many. */
const ONE_IN = FULL ? 1 : 15;
/** More than enough rounds for everything that comes by chance. */
const MOST_ROUNDS = 500;
const LIMIT_MS = FULL ? 1_800_000 : 1_200_000;

const random = createRandom(`faults:${SEED}`);
const directory = mkdtempSync(path.join(tmpdir(), 'scenario-'));
const chain = createChain({ dir: null, seed: SEED, genesisTime: GENESIS });
let life: Life;
let harness: Harness;
let done = 0;

async function live(slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot += 1) {
    const actions = life.next();
    done += actions.length;
    await chain.produce(actions);
  }
}

async function liveUntil(actions: number): Promise<void> {
  while (done < actions) await live(1);
}

function part(): Extent {
  const first = random.int(0, ONE_IN - 1);
  return { includes: (at) => at % ONE_IN === first, histories: FULL ? 25 : 2 };
}

/** Checks that a list has items and that each of them matches. */
function eachOf(list: unknown, what: string, wanted: object): void {
  expect(list, what).not.toHaveLength(0);
  expect(list, what).toMatchObject((list as unknown[]).map(() => wanted));
}

const statusOf = async () => (await harness.get('/status')) as unknown as Status;

/** Has slots pass that the stream will not replay, while RPC is down. */
async function missSlots(slots: number): Promise<void> {
  harness.rpc.faults.down('busy');
  harness.geyser.faults.stall(true);
  await live(slots / 2);
  // An hour ends meanwhile.
  chain.skipTo(chain.tip().slot + HOUR_SLOTS);
  await live(slots / 2);
  harness.geyser.faults.drop();
  harness.geyser.faults.stall(false);
}

beforeAll(async () => {
  life = createLife(chain, { seed: SEED, policies: POLICIES, rate: 7, metadataBase: 'http://127.0.0.1:1' });
  for (const share of [1 / 3, 2 / 3, 1]) {
    await liveUntil(PAST * share);
    if (share < 1) chain.skipTo(chain.tip().slot + PAUSE_SLOTS);
  }
  harness = await createHarness({ chain, directory, retentionSlots: RETENTION });
  await harness.start();
}, LIMIT_MS);

// Also after a failed test, the next one has a chain that can be read.
afterEach(() => {
  harness.geyser.faults.scramble(null);
  harness.geyser.faults.mixInDeadVersion(null);
  harness.geyser.faults.stall(false);
  harness.rpc.faults.down(null);
});

afterAll(async () => {
  await harness.close();
  rmSync(directory, { recursive: true, force: true });
});

describe(`every route equals the ledger (SCENARIO_SEED=${SEED})`, () => {
  test(
    'after history was read over RPC while the chain went on',
    async () => {
      await live(10);
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after 17 hours in which nothing happened',
    async () => {
      chain.skipTo(chain.tip().slot + PAUSE_SLOTS);
      await live(5);
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after updates came twice and in another order',
    async () => {
      harness.geyser.faults.scramble(() => random.next());
      for (let round = 0; round < 10; round += 1) {
        await live(4);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await harness.expectExact(part());
      harness.geyser.faults.scramble(null);
    },
    LIMIT_MS,
  );

  test(
    'after the stream was dropped and stalled for fewer slots than it replays, with updates out of order',
    async () => {
      harness.geyser.faults.scramble(() => random.next());
      for (let round = 0; round < 3; round += 1) {
        await live(random.int(1, 6));
        harness.geyser.faults.drop();
        await live(random.int(1, 6));
        harness.geyser.faults.stall(true);
        await live(random.int(1, 6));
        harness.geyser.faults.stall(false);
        await harness.settle();
      }
      harness.geyser.faults.scramble(null);
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after a gap beyond the replay, with sums absent for that reason until it is closed',
    async () => {
      await missSlots(RETENTION + 40);
      await harness.until(async () => !(await statusOf()).indexer.history.complete, 'the gap is open');
      await live(5);
      await harness.until(
        async () => (await statusOf()).indexer.lastProcessedSlot === String(chain.tip().slot),
        'the stream goes on beside the gap',
      );
      for (const policy of [...chain.state().policies.values()].slice(0, 5)) {
        const reason = expect.stringMatching(/^history is not complete/);
        const missing = { value: null, absent: true, reason };
        const fees = await harness.get(`/coins/${policy.mint}/fees`);
        expect(fees.quoteLeg).toMatchObject({ lifetimeFromEvents: missing });
        expect(fees.quoteLeg).toMatchObject({ lifetime: { source: 'chain:Policy.fees_claimed' } });
        expect(fees.quoteLeg).toMatchObject({ last24h: { value: null, absent: true } });
        expect(fees.baseLeg).toMatchObject({ lifetime: missing });
        expect(fees.claimCount).toStrictEqual({ lifetime: null, last24h: null });
        const loop = await harness.get(`/coins/${policy.mint}/loop`);
        expect(loop.step1_feesClaimed).toMatchObject({ quoteLeg: missing, baseLeg: missing });
        expect(loop.step2_routed).toMatchObject({ protocolCut: missing, toLp: missing, toBankroll: missing });
        expect(loop.step6_buyback).toMatchObject({ spent: missing, burned: missing });
        const { items } = await harness.get('/rankings');
        eachOf(items, 'rows of /rankings', { fees: missing });
        const { revenueByDayTimeSeries: series } = await harness.get('/analytics');
        eachOf(series, 'days of /analytics', { routedToLp: missing, profitSwept: missing });
      }
      harness.rpc.faults.down(null);
      await live(5);
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after the stream brought transactions that the chain does not have, and left others out',
    async () => {
      harness.mayMiss();
      harness.geyser.faults.mixInDeadVersion(() => random.next());
      const isHaunted = () => {
        const { ghosts, lost } = harness.geyser.faults.mixedIn();
        return ghosts > 0 && lost > 0;
      };
      for (let round = 0; round < 10 || (!isHaunted() && round < MOST_ROUNDS); round += 1) {
        await live(4);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(isHaunted()).toBe(true);
      await harness.settle();
      harness.geyser.faults.mixInDeadVersion(null);
      const haunted = chain.tip().slot;
      await harness.until(async () => {
        for (let slots = 0; slots < 8; slots += 1) await chain.produce([]);
        return BigInt((await statusOf()).indexer.verifiedSlot ?? 0) >= haunted;
      }, 'the index was compared with the chain');
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after a restart on the same directory with slots missed meanwhile',
    async () => {
      await harness.stop();
      await live(20);
      await harness.start();
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    'after the system was killed between two writes several times, once with a gap open',
    async () => {
      for (let round = 0; round < (FULL ? 10 : 4); round += 1) {
        await harness.stop();
        await live(round === 2 ? RETENTION + 20 : 10);
        const product = await harness.start();
        product.crashAfter(random.int(1, 60));
        await harness.until(async () => {
          await live(1);
          return product.crashed();
        }, 'it is dead');
      }
      await harness.stop();
      await live(3);
      await harness.start();
      await harness.expectExact(part());
    },
    LIMIT_MS,
  );

  test(
    `after ${ACTIONS} actions of ${POLICIES} policies`,
    async () => {
      while (done < ACTIONS || chain.state().policies.size < POLICIES) {
        await live(20);
        await harness.settle();
      }
      await harness.expectExact({ everyOrder: true });
      expect(chain.state().policies.size).toBe(POLICIES);
    },
    LIMIT_MS,
  );
});
