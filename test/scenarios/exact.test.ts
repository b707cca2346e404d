import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Chain, createChain } from '../../devnet/chain.ts';
import { type GeyserServer, serveGeyser } from '../../devnet/geyser/server.ts';
import { createLife, type Life } from '../../devnet/life.ts';
import { type RpcServer, serveRpc } from '../../devnet/rpc/server.ts';
import { readConfig } from '../../runtime/config.ts';
import { createLogger } from '../../runtime/log.ts';
import { type System, startSystem } from '../../start/system.ts';
import { daySeries, ledgerEvents, policyValues } from './ledger-oracle.ts';
import { allRankings, servedDays, servedValues } from './served.ts';

const SEED = process.env.SCENARIO_SEED ?? 'exact-1';
const FULL = process.env.SCENARIO === 'full';
const POLICIES = FULL ? 300 : 40;
const PAST_SLOTS = FULL ? 2_500 : 300;
const RATE = FULL ? 7 : 5;
/** How far back the stream replays: less than what is missed in the gap below. */
const RETENTION = 30;
const MISSED = 120;

let chain: Chain;
let life: Life;
let geyser: GeyserServer;
let rpc: RpcServer;
let system: System;
let stopping: AbortController;
const directory = mkdtempSync(path.join(tmpdir(), 'scenario-'));

async function produce(slots: number): Promise<void> {
  for (let slot = 0; slot < slots; slot += 1) await chain.produce(life.next());
}

/** mulberry32: faults come from the seed too. */
function seeded(text: string): () => number {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1), 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function start(): Promise<void> {
  stopping = new AbortController();
  const config = {
    ...readConfig({
      DATA_DIR: directory,
      YELLOWSTONE_ENDPOINT: `127.0.0.1:${geyser.port}`,
      SOLANA_RPC_URL: rpc.url,
    }),
    programId: chain.programId,
    port: 0,
  };
  const logger = createLogger('silent', 'scenario');
  system = await startSystem(config, { logger, signal: stopping.signal, devnet: true });
}

async function stop(): Promise<void> {
  stopping.abort();
  await system.stop();
}

async function get(route: string): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${system.api.port}${route}`);
  return (await response.json()) as Record<string, unknown>;
}

interface Status {
  indexer: { lastProcessedSlot: string | null; history: { complete: boolean } };
}

/** Slots go on, empty ones, until the index has all of the chain: followed addresses are read at a later slot. */
async function settle(): Promise<void> {
  for (let quiet = 0; quiet < 6; ) {
    await chain.produce([]);
    const { indexer } = (await get('/status')) as unknown as Status;
    const there =
      BigInt(indexer.lastProcessedSlot ?? -1) >= chain.tip().slot - 2n && indexer.history.complete;
    quiet = there ? quiet + 1 : 0;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await expect
    .poll(async () => ((await get('/status')) as unknown as Status).indexer.lastProcessedSlot, {
      timeout: 30_000,
    })
    .toBe(String(chain.tip().slot));
}

/** Equality on every policy and the day series, in both directions. */
async function expectExact(): Promise<void> {
  await settle();
  const events = ledgerEvents(chain);
  const rankings = await allRankings(get);
  const policies = [...chain.state().policies.values()];
  expect([...rankings.keys()].sort()).toEqual(policies.map(({ mint }) => mint).sort());
  for (const policy of policies) {
    const own = events.filter(({ fields }) => fields.mint === policy.mint);
    const expected = policyValues(chain, policy, own);
    expect(await servedValues(get, policy, rankings.get(policy.mint) ?? {})).toEqual(expected);
  }
  expect(await servedDays(get)).toEqual(daySeries(events));
}

beforeAll(async () => {
  chain = createChain({ dir: null, seed: SEED, genesisTime: Date.now() - (PAST_SLOTS + 2_000) * 400 });
  life = createLife(chain, {
    seed: SEED,
    policies: POLICIES,
    rate: RATE,
    metadataBase: 'http://127.0.0.1:1',
  });
  await produce(PAST_SLOTS);
  geyser = await serveGeyser({ ledger: chain, port: 0, retentionSlots: RETENTION });
  rpc = await serveRpc({ ledger: chain, port: 0 });
  await start();
});

afterAll(async () => {
  await stop();
  await Promise.all([geyser.close(), rpc.close()]);
  rmSync(directory, { recursive: true, force: true });
});

describe(`every figure equals the ledger (seed ${SEED})`, () => {
  test('after history was read over RPC', expectExact, 600_000);

  test('after updates came twice and in another order', async () => {
    geyser.faults.scramble(seeded(SEED));
    for (let round = 0; round < 10; round += 1) {
      await produce(6);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expectExact();
    geyser.faults.scramble(null);
  }, 600_000);

  test('after the stream was dropped again and again inside its replay', async () => {
    for (let round = 0; round < 4; round += 1) {
      await produce(5);
      geyser.faults.drop();
      await produce(3);
      await settle();
    }
    await expectExact();
  }, 600_000);

  test('after a gap beyond the replay: sums are absent until history has closed it', async () => {
    rpc.faults.down('busy');
    geyser.faults.stall(true);
    await produce(MISSED);
    geyser.faults.drop();
    geyser.faults.stall(false);
    await expect
      .poll(
        async () => {
          await chain.produce([]);
          return ((await get('/status')) as unknown as Status).indexer.history.complete;
        },
        { timeout: 60_000, interval: 200 },
      )
      .toBe(false);
    const [policy] = chain.state().policies.values();
    const fees = await get(`/coins/${policy?.mint}/fees`);
    expect(fees.quoteLeg).toMatchObject({ lifetimeFromEvents: { value: null, absent: true } });
    expect(fees.claimCount).toMatchObject({ lifetime: null });
    rpc.faults.down(null);
    await expectExact();
  }, 600_000);

  test('after a restart on the same directory with slots missed meanwhile', async () => {
    await stop();
    await produce(20);
    await start();
    await expectExact();
  }, 600_000);
});
