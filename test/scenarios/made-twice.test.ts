import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createChain } from '../../devnet/chain/chain.ts';
import type { Block } from '../../devnet/chain/ledger.ts';
import { deadVersion, lossy } from '../../devnet/geyser/dead-version.ts';
import { createLife, type Life } from '../../devnet/life/life.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { isOneIn } from '../../devnet/rpc/manners.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { createHarness, type Harness, type Status } from './harness.ts';

const SEED = process.env.SCENARIO_SEED ?? 'made-twice-1';
const POLICIES = 12;
const HOUR_SLOTS = 9_000n;
/** The stream replays the whole chain. */
const RETENTION = 1_000_000;
/** Slots after one made twice until all accounts are read again; the second of its two sweeps may come this late. */
const SWEPT_SLOTS = 400n;

const random = createRandom(`made-twice:${SEED}`);
const directory = mkdtempSync(path.join(tmpdir(), 'made-twice-'));
const chain = createChain({ dir: null, seed: SEED, genesisTime: Date.UTC(2026, 10, 1, 20, 50) });
let life: Life;
let harness: Harness;

async function live(slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot += 1) {
    await chain.produce(life.next());
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const indexer = async () => ((await harness.get('/status')) as unknown as Status).indexer;
const verified = async () => BigInt((await indexer()).verifiedSlot ?? 0);

/** Waits until all slots so far were compared with the chain and the accounts to be read again were asked for. */
async function compared(): Promise<void> {
  const last = chain.tip().slot;
  await harness.until(async () => {
    for (let slots = 0; slots < 20 && chain.tip().slot < last + SWEPT_SLOTS; slots += 1)
      await chain.produce([]);
    return chain.tip().slot >= last + SWEPT_SLOTS && (await verified()) >= last;
  }, 'the index was compared with the chain');
}

/**
 * Goes on until a block from that slot on is affected. Which blocks are depends on their slot numbers, and how many
 * slots passed before depends on how long things took.
 */
async function liveUntil(isBefallen: (block: Block) => boolean, fromSlot: bigint): Promise<void> {
  const isSo = () => {
    for (let slot = fromSlot; slot <= chain.tip().slot; slot += 1n) {
      const block = chain.block(slot);
      if (block !== null && isBefallen(block)) return true;
    }
    return false;
  };
  while (!isSo()) await live(1);
}

const isRemade = (seed: string) => (block: Block) => deadVersion(chain, block, seed) !== null;

/** Whether the stream loses one of the block's transactions of the program that `affects` also selects. */
const isLost =
  (seed: string, affects = (_signature: string) => true) =>
  (block: Block) => {
    const told = new Set(lossy(block, seed).transactions);
    return block.transactions.some((tx) => !told.has(tx) && affects(encodeBase58(tx.signature)));
  };

beforeAll(async () => {
  life = createLife(chain, { seed: SEED, policies: POLICIES, rate: 5, metadataBase: 'http://127.0.0.1:1' });
  while (chain.state().policies.size < POLICIES) await live(1);
  await live(60);
  harness = await createHarness({ chain, directory, retentionSlots: RETENTION });
  await harness.start();
  await harness.expectExact();
});

// Also after a failed test, the next one has a chain that can be read.
afterEach(() => {
  harness.geyser.faults.remake(null);
  harness.geyser.faults.lose(null);
  harness.rpc.faults.down(null);
  harness.rpc.faults.behave({ withheld: null });
});

afterAll(async () => {
  await harness.close();
  rmSync(directory, { recursive: true, force: true });
});

describe(`slots made twice, with both versions sent as confirmed (SCENARIO_SEED=${SEED})`, () => {
  test('leave nothing of the dead version in any route', async () => {
    harness.mayMiss();
    const from = chain.nextSlotAtLeast();
    harness.geyser.faults.remake(SEED);
    for (let round = 0; round < 8; round += 1) await live(5);
    await liveUntil(isRemade(SEED), from);
    await harness.settle();
    harness.geyser.faults.remake(null);
    await compared();
    await harness.expectExact();
  });

  test('leave nothing of the dead version in the hours that end near them, with RPC down at the time', async () => {
    harness.mayMiss();
    const remaking = `${SEED}-hours`;
    const from = chain.nextSlotAtLeast();
    harness.geyser.faults.remake(remaking);
    // RPC is down, so nothing is read again before the next writes.
    harness.rpc.faults.down('busy');
    for (let hours = 0; hours < 4; hours += 1) {
      await live(4);
      chain.skipTo(chain.tip().slot + HOUR_SLOTS / 2n - BigInt(random.int(0, 400)));
      await live(4);
      chain.skipTo(chain.tip().slot + HOUR_SLOTS / 2n - BigInt(random.int(0, 400)));
    }
    await liveUntil(isRemade(remaking), from);
    await harness.settle();
    harness.geyser.faults.remake(null);
    harness.rpc.faults.down(null);
    await compared();
    await harness.expectExact();
  });

  test('transactions that the stream loses with what they wrote leave every route exact, too', async () => {
    harness.mayMiss();
    const from = chain.nextSlotAtLeast();
    harness.geyser.faults.lose(SEED);
    await live(20);
    // Also for hours that end before any of it is read.
    harness.rpc.faults.down('busy');
    for (let hours = 0; hours < 8; hours += 1) {
      await live(3);
      chain.skipTo(chain.tip().slot + HOUR_SLOTS / 2n - BigInt(random.int(0, 400)));
    }
    await live(5);
    await liveUntil(isLost(SEED), from);
    await harness.settle();
    harness.geyser.faults.lose(null);
    harness.rpc.faults.down(null);
    await compared();
    await harness.expectExact();
  });

  test('are open gaps, also after a restart, while the node withholds their transactions; then every route is exact', async () => {
    harness.mayMiss();
    const withheld = {
      affects: (signature: string) => isOneIn(2, signature),
      times: Number.POSITIVE_INFINITY,
    };
    harness.rpc.faults.behave({ withheld });
    harness.geyser.faults.remake(`${SEED}-withheld`);
    await live(3);
    harness.geyser.faults.remake(null);
    const losing = `${SEED}-withheld`;
    harness.geyser.faults.lose(losing);
    const losingFrom = chain.nextSlotAtLeast();
    for (let hours = 0; hours < 2; hours += 1) {
      await live(3);
      chain.skipTo(chain.tip().slot + HOUR_SLOTS / 2n - BigInt(random.int(0, 400)));
    }
    await live(1);
    await liveUntil(isLost(losing, withheld.affects), losingFrom);
    await harness.settle();
    harness.geyser.faults.lose(null);
    await compared();
    const { openGaps, history } = await indexer();
    expect(openGaps).toBeGreaterThan(0);
    expect(history.complete).toBe(false);
    // The next process finds the gaps open, and cannot close them as long as the node withholds what they lack.
    await harness.stop();
    await harness.start();
    await live(3);
    await compared();
    expect((await indexer()).openGaps).toBeGreaterThan(0);
    harness.rpc.faults.behave({ withheld: null });
    await harness.until(async () => (await indexer()).openGaps === 0, 'what could not be read was');
    await compared();
    await harness.expectExact();
  });

  test('leave every route exact where the stream is dropped and the system killed while they come', async () => {
    harness.mayMiss();
    const remaking = `${SEED}-cut`;
    const from = chain.nextSlotAtLeast();
    harness.geyser.faults.remake(remaking);
    await live(10);
    await liveUntil(isRemade(remaking), from);
    harness.geyser.faults.drop();
    await liveUntil(isRemade(remaking), chain.nextSlotAtLeast());
    await live(10);
    await harness.stop();
    await liveUntil(isRemade(remaking), chain.nextSlotAtLeast());
    await live(5);
    const product = await harness.start();
    product.crashAfter(random.int(1, 60));
    await harness.until(async () => {
      await live(1);
      return product.crashed();
    }, 'it is dead');
    await harness.stop();
    await live(3);
    await harness.start();
    await live(10);
    await liveUntil(isRemade(remaking), chain.nextSlotAtLeast());
    await harness.settle();
    harness.geyser.faults.remake(null);
    await compared();
    await harness.expectExact();
  });
});
