import { setTimeout as delay } from 'node:timers/promises';
import type { Chain } from '../../devnet/chain/chain.ts';
import { type GeyserServer, serveGeyser } from '../../devnet/geyser/server.ts';
import { keyOf } from '../../devnet/program/state/keys.ts';
import { type RpcServer, serveRpc } from '../../devnet/rpc/server.ts';
import { PATIENCE_MS } from '../support/awaited.ts';
import { compare, type Extent, type Get, UNPACKED } from './compare.ts';
import { compareSums } from './compare-sums.ts';
import { inTime } from './late.ts';
import { viewOf } from './oracle/view.ts';
import { type Product, type ProductOptions, startProduct } from './product.ts';
import { untilExact } from './until-exact.ts';

export interface Status {
  indexer: {
    lastProcessedSlot: string | null;
    verifiedSlot: string | null;
    openGaps: number;
    history: { complete: boolean };
    incompleteTransactions: { value: number | null };
  };
}

export interface Harness {
  chain: Chain;
  geyser: GeyserServer;
  rpc: RpcServer;
  get: Get;
  start(): Promise<Product>;
  stop(): Promise<void>;
  /** Makes empty slots until `condition` holds. */
  until(condition: () => Promise<boolean> | boolean, what: string): Promise<void>;
  /** Waits until the index is at the tip and nothing of the past is missing. */
  settle(): Promise<void>;
  /** Waits until every route equals the ledger, nothing missing and nothing more. */
  expectExact(extent?: Extent): Promise<void>;
  /** How often the node was asked for the account at an address. */
  reads(address: string): number;
  /** The addresses that no stream carries, as stored by the product. */
  uncarried(): Promise<string[]>;
  /** How many gaps the product has recorded. */
  gaps(): number;
  /** From now until everything was exact again, the product may know less than the chain has. */
  mayMiss(): void;
  close(): Promise<void>;
}

export interface HarnessOptions {
  chain: Chain;
  /** The product's data directory; it may hold an index already. */
  directory: string;
  /** How many slots the stream replays. */
  retentionSlots: number;
  /** Whether pollers wrote to the index. */
  polled?: boolean;
  /** A stream that shows no new slot for this long is started again. */
  silenceMs?: number;
  /** After how long the stream of followed addresses counts as away, and how often they are then read over RPC. */
  away?: Pick<ProductOptions, 'awayAfterMs' | 'rotaMs'>;
}

const SILENCE_MS = 2_000;
const EXACT_LIMIT_MS = 120_000;
const POLL_MS = 250;
/** History reads a gap once a node's list of it is complete, which is 32 slots behind it. */
const SETTLED_SLOTS = 48n;
/**
 * While a condition is awaited, slots go on, as some work waits for the next slot. The pauses between them grow: a
 * machine that takes longer for a slot than the pause would never be seen at the tip.
 */
const SLOT_AFTER_MS = 300;
const SLOWER = 1.5;
/** Longest such pause: shorter than the silence after which a stream is taken to be dead. */
const SLOT_AT_LATEST_MS = 1_200;

/** The chain served from this process, and the product over it on `directory`. */
export async function createHarness(options: HarnessOptions): Promise<Harness> {
  const { chain, directory, retentionSlots } = options;
  const geyser = await serveGeyser({ ledger: chain, port: 0, retentionSlots });
  const reads = new Map<string, number>();
  const account: Chain['account'] = (address) => {
    const key = keyOf(address);
    reads.set(key, (reads.get(key) ?? 0) + 1);
    return chain.account(address);
  };
  const rpc = await serveRpc({ ledger: { ...chain, account }, port: 0 });
  let product: Product | null = null;

  const get: Get = async (route) => {
    const { status, body } = await inTime(async () => {
      const response = await fetch(`http://127.0.0.1:${product?.port}${route}`, { headers: UNPACKED });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    });
    if (status !== 200) throw new Error(`${route} answers ${status}: ${JSON.stringify(body)}`);
    return body;
  };

  const until: Harness['until'] = async (condition, what) => {
    const started = performance.now();
    let produced = started;
    let after = SLOT_AFTER_MS;
    while (!(await condition())) {
      const now = performance.now();
      if (now - started > PATIENCE_MS) throw new Error(`waited too long until ${what}`);
      if (now - produced > after) {
        await chain.produce([]);
        produced = performance.now();
        after = Math.min(SLOWER * after, SLOT_AT_LATEST_MS);
      }
      await delay(POLL_MS);
    }
  };

  /** Slots are made without pauses up to this one, as a gap is only read once the chain has gone on behind it. */
  let goesOnTo = 0n;
  const goOn = () => {
    goesOnTo = chain.tip().slot + SETTLED_SLOTS;
  };
  const settle = () =>
    until(async () => {
      const { applied, knowsOfGap } = product as Product;
      if (!knowsOfGap()) {
        // Asks the API only when needed: each request makes the API's memory follow the newest batch.
        if ((applied() ?? chain.tip().slot) < chain.tip().slot) return false;
        const { indexer } = (await get('/status')) as unknown as Status;
        if (indexer.history.complete) return indexer.lastProcessedSlot === String(chain.tip().slot);
      }
      for (let slots = 0; slots < 8 && chain.tip().slot < goesOnTo; slots += 1) await chain.produce([]);
      return false;
    }, 'the index is at the tip and whole');

  /** Whether no transaction is incomplete: the rest of one is read later over RPC, and no gap shows that. */
  const isAllRead = async () => {
    const { indexer } = (await get('/status')) as unknown as Status;
    return indexer.incompleteTransactions.value === 0;
  };

  const now = () => chain.timeOf(chain.tip().slot);
  /** When everything was exact, and the times from a miss until everything was exact again; unix seconds. */
  const exactAt: number[] = [];
  const missed: { from: number; to: number }[] = [];
  let gaps = 0;
  const mayMissFrom = (time: number) => missed.push({ from: time - 1, to: Number.POSITIVE_INFINITY });
  const watchedSince = (moment: number): number | null => {
    const since = exactAt.findLast((time) => time <= moment);
    if (since === undefined) return null;
    return missed.some(({ from, to }) => from < moment && to > since) ? null : since;
  };

  const uncarried = () => (product as Product).uncarried();
  /** Whether a stream carries all addresses, but for token accounts of venue accounts that the policy does not own. */
  const allCarried = async () => {
    const { venues, tokens } = chain.state();
    const others = new Set(
      [...venues.values()]
        .filter(({ tokenAccount, policy }) => tokens.get(tokenAccount)?.owner !== policy)
        .map(({ tokenAccount }) => tokenAccount),
    );
    return (await uncarried()).every((address) => others.has(address));
  };

  const view = () => viewOf(chain, options.polled ?? false, watchedSince);

  const stop = async () => {
    await product?.stop();
    product = null;
  };

  return {
    chain,
    geyser,
    rpc,
    get,
    until,
    settle,
    stop,
    reads: (address) => reads.get(address) ?? 0,
    uncarried,
    start: async () => {
      goOn();
      product = await startProduct({
        directory,
        silenceMs: options.silenceMs ?? SILENCE_MS,
        ...options.away,
        geyserPort: geyser.port,
        rpcUrl: rpc.url,
        programId: chain.programId,
        clock: () => chain.timeOf(chain.tip().slot) * 1000,
        onGap: (slot) => {
          goOn();
          gaps += 1;
          mayMissFrom(chain.timeOf(slot));
        },
        onUnfollowed: (afterSlot) => mayMissFrom(chain.timeOf(afterSlot)),
      });
      return product;
    },
    gaps: () => gaps,
    mayMiss: () => void mayMissFrom(now()),
    expectExact: async (extent) => {
      await untilExact({
        settle,
        nextSlot: () => chain.produce([]),
        compare: () => compare(get, view(), extent),
        compareSums: async () => {
          await until(isAllRead, 'no transaction is left that was read in part');
          await compareSums(get, view(), extent);
        },
        limitMs: EXACT_LIMIT_MS,
      });
      // An address that came up last may be known already but not streamed yet: its changes would be missed.
      await until(allCarried, 'every followed address is streamed');
      for (const one of missed) one.to = Math.min(one.to, now());
      exactAt.push(now());
      // Later changes have to work with sums of passed hours that are kept.
      await product?.keepHours();
    },
    close: async () => {
      await stop();
      await Promise.all([geyser.close(), rpc.close()]);
    },
  };
}
