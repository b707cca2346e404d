import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain.ts';
import { createLife, type Life } from '../../devnet/life.ts';
import { createHarness, type Harness, seeded } from './harness.ts';

const SEED = process.env.SCENARIO_SEED ?? 'exact-1';
/** 300 policies and 20,000 actions. */
const FULL = process.env.SCENARIO === 'full';
const POLICIES = FULL ? 300 : 40;
const PAST_SLOTS = FULL ? 2_500 : 300;
const RATE = FULL ? 7 : 5;
/** How far back the stream replays: less than what is missed in the gap below. */
const RETENTION = 30;
const MISSED = 120;

let harness: Harness;
let life: Life;
const directory = mkdtempSync(path.join(tmpdir(), 'scenario-'));

async function produce(slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot += 1) await harness.chain.produce(life.next());
}

beforeAll(async () => {
  const chain = createChain({ dir: null, seed: SEED, genesisTime: Date.now() - (PAST_SLOTS + 2_000) * 400 });
  life = createLife(chain, {
    seed: SEED,
    policies: POLICIES,
    rate: RATE,
    metadataBase: 'http://127.0.0.1:1',
  });
  for (let slot = 0; slot < PAST_SLOTS; slot += 1) await chain.produce(life.next());
  harness = await createHarness(chain, directory, RETENTION);
  await harness.start();
});

afterAll(async () => {
  await harness.close();
  rmSync(directory, { recursive: true, force: true });
});

describe(`every figure equals the ledger (seed ${SEED})`, () => {
  test('after history was read over RPC', () => harness.expectExact(), 600_000);

  test('after updates came twice and in another order', async () => {
    harness.geyser.faults.scramble(seeded(SEED));
    for (let round = 0; round < 10; round += 1) {
      await produce(6);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await harness.expectExact();
    harness.geyser.faults.scramble(null);
  }, 600_000);

  test('after the stream was dropped again and again inside its replay', async () => {
    for (let round = 0; round < 4; round += 1) {
      await produce(5);
      harness.geyser.faults.drop();
      await produce(3);
      await harness.settle();
    }
    await harness.expectExact();
  }, 600_000);

  test('after a gap beyond the replay: sums are absent until history has closed it', async () => {
    const { chain, geyser, rpc, get, status } = harness;
    rpc.faults.down('busy');
    geyser.faults.stall(true);
    await produce(MISSED);
    geyser.faults.drop();
    geyser.faults.stall(false);
    await expect
      .poll(
        async () => {
          await chain.produce([]);
          return (await status()).indexer.history.complete;
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe(false);
    const [policy] = chain.state().policies.values();
    const fees = await get(`/coins/${policy?.mint}/fees`);
    expect(fees.quoteLeg).toMatchObject({ lifetimeFromEvents: { value: null, absent: true } });
    expect(fees.claimCount).toMatchObject({ lifetime: null });
    rpc.faults.down(null);
    await harness.expectExact();
  }, 600_000);

  test('after a restart on the same directory with slots missed meanwhile', async () => {
    await harness.stop();
    await produce(20);
    await harness.start();
    await harness.expectExact();
  }, 600_000);
});
