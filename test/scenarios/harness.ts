import { expect } from 'vitest';
import type { Chain } from '../../devnet/chain.ts';
import { type GeyserServer, serveGeyser } from '../../devnet/geyser/server.ts';
import { type RpcServer, serveRpc } from '../../devnet/rpc/server.ts';
import { readConfig } from '../../runtime/config.ts';
import { createLogger } from '../../runtime/log.ts';
import { type System, startSystem } from '../../start/system.ts';
import { daySeries, ledgerEvents, policyValues } from './ledger-oracle.ts';
import { allRankings, servedDays, servedValues } from './served.ts';

export interface Status {
  indexer: { lastProcessedSlot: string | null; history: { complete: boolean } };
}

export interface Harness {
  chain: Chain;
  geyser: GeyserServer;
  rpc: RpcServer;
  get(route: string): Promise<Record<string, unknown>>;
  status(): Promise<Status>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Slots go on, empty ones, until the index has all of the chain. */
  settle(): Promise<void>;
  /** Every policy on every route and the day series equal the ledger, in both directions. */
  expectExact(): Promise<void>;
  close(): Promise<void>;
}

/** The chain served from this process, and the product over it on `directory`. */
export async function createHarness(
  chain: Chain,
  directory: string,
  retentionSlots: number,
): Promise<Harness> {
  const geyser = await serveGeyser({ ledger: chain, port: 0, retentionSlots });
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  let system: System | null = null;
  let stopping = new AbortController();

  const get: Harness['get'] = async (route) => {
    const response = await fetch(`http://127.0.0.1:${system?.api.port}${route}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const status = async () => (await get('/status')) as unknown as Status;

  const stop = async () => {
    stopping.abort();
    await system?.stop();
    system = null;
  };

  const settle = async () => {
    // Followed addresses are read at a slot behind the one where they came up.
    for (let quiet = 0; quiet < 6; ) {
      await chain.produce([]);
      const { indexer } = await status();
      const there =
        BigInt(indexer.lastProcessedSlot ?? -1) >= chain.tip().slot - 2n && indexer.history.complete;
      quiet = there ? quiet + 1 : 0;
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    await expect
      .poll(async () => (await status()).indexer.lastProcessedSlot, { timeout: 30_000 })
      .toBe(String(chain.tip().slot));
  };

  return {
    chain,
    geyser,
    rpc,
    get,
    status,
    settle,
    stop,
    start: async () => {
      stopping = new AbortController();
      const endpoints = { YELLOWSTONE_ENDPOINT: `127.0.0.1:${geyser.port}`, SOLANA_RPC_URL: rpc.url };
      const config = {
        ...readConfig({ DATA_DIR: directory, ...endpoints }),
        programId: chain.programId,
        port: 0,
      };
      const logger = createLogger('silent', 'scenario');
      system = await startSystem(config, { logger, signal: stopping.signal, devnet: true });
    },
    expectExact: async () => {
      await settle();
      const events = ledgerEvents(chain);
      const rankings = await allRankings(get);
      const policies = [...chain.state().policies.values()];
      expect([...rankings.keys()].sort()).toEqual(policies.map(({ mint }) => mint).sort());
      for (const policy of policies) {
        const own = events.filter(({ fields }) => fields.mint === policy.mint);
        const served = await servedValues(get, policy, rankings.get(policy.mint) ?? {});
        expect(served).toEqual(policyValues(chain, policy, own));
      }
      expect(await servedDays(get)).toEqual(daySeries(events));
    },
    close: async () => {
      await stop();
      await Promise.all([geyser.close(), rpc.close()]);
    },
  };
}

/** mulberry32: faults come from the seed too. */
export function seeded(text: string): () => number {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1), 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
