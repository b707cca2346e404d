import { type Chain, type ChainOptions, createChain } from '../../../devnet/chain/chain.ts';
import type { ProviderModes } from '../../../devnet/geyser/modes.ts';
import { type GeyserServer, serveGeyser } from '../../../devnet/geyser/server.ts';
import { createLife, type Life } from '../../../devnet/life/life.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { createMemoryLog } from '../../../ingest/log/in-process.ts';
import type { LogReader, LogWriter } from '../../../ingest/log/port.ts';
import type { StreamEvent } from '../../../ingest/stream/event.ts';
import type { StreamStore } from '../../../ingest/stream/stored-state.ts';
import { runStream } from '../../../ingest/stream/stream.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { awaited } from '../../support/awaited.ts';
import { createLogModel, type LogModel } from './log-model.ts';

/** A local chain behind its servers, and the stream into a log that is read into a model. */
export interface StreamStage {
  chain: Chain;
  geyser: GeyserServer;
  rpc: RpcServer;
  model: LogModel;
  /** Makes this many blocks, each once the sockets had their turn. */
  live(blocks: number): Promise<void>;
  start(options?: StartOptions): Running;
  /** Makes a block every now and then until `so` holds. */
  liveUntil(what: string, so: () => boolean): Promise<void>;
  /** Makes an empty block every now and then until `so` holds: nothing else happens on the chain meanwhile. */
  restUntil(what: string, so: () => boolean): Promise<void>;
  /** Resolves once every block is marked and no gap is open. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface StartOptions {
  /** Streams from this endpoint instead of the stage's own server. */
  endpoint?: string;
  /** Uses this node instead of the stage's own. */
  rpcUrl?: string | readonly string[];
  silenceMs?: number;
  awayAfterMs?: number;
  aloneMs?: number;
  compareMs?: number;
  startSlot?: bigint;
  commitment?: 'confirmed' | 'finalized';
  /** Another log than the one in this process, and its last position. */
  log?: LogWriter & LogReader;
  position?: StreamStore['position'];
}

export interface Running {
  events: StreamEvent[];
  stop(): Promise<void>;
}

export interface StageOptions extends Partial<Pick<ChainOptions, 'cutLogs' | 'skipChance'>> {
  seed: string;
  policies: number;
  retentionSlots?: number;
  modes?: Partial<ProviderModes>;
  /** Partitions of the log's topics, where it is not the one in this process. */
  partitions?: number;
}

/** While something is awaited, so many blocks are made at once, and the rest at a chain's pace (BLOCK_MS). */
const SWIFT_BLOCKS = 50;
const BLOCK_MS = 250;
/** At rest, a block this often: what was cut off after the last comes with it, and a stream without slots is dead. */
const RESTS_MS = 2_000;

export async function openStreamStage({
  seed,
  policies,
  retentionSlots,
  partitions = 1,
  modes = {},
  ...rest
}: StageOptions): Promise<StreamStage> {
  const chain = createChain({ dir: null, seed, genesisTime: 1_760_000_000_000, ...rest });
  const life: Life = createLife(chain, { seed, policies });
  const geyser = await serveGeyser({
    ledger: chain,
    port: 0,
    modes,
    ...(retentionSlots === undefined ? {} : { retentionSlots }),
  });
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  const model = createLogModel(partitions);
  const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
  const running = new Set<Running>();

  const live = async (blocks: number) => {
    for (let made = 0; made < blocks; made += 1) {
      await chain.produce(life.next());
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  const until = (what: string, so: () => boolean, meanwhile: () => Promise<void>) => {
    let blocks = 0;
    let madeAt = Number.NEGATIVE_INFINITY;
    return awaited(async () => {
      if (so()) return;
      if (blocks < SWIFT_BLOCKS || performance.now() - madeAt >= BLOCK_MS) {
        blocks += 1;
        madeAt = performance.now();
        await meanwhile();
      }
      throw new Error(`not yet: ${what}`);
    });
  };

  const stage: StreamStage = {
    chain,
    geyser,
    rpc,
    model,
    live,
    liveUntil: (what, so) => until(what, so, () => live(1)),
    restUntil: (what, so) => until(what, so, async () => void (await chain.produce([]))),
    start: ({
      endpoint = `127.0.0.1:${geyser.port}`,
      rpcUrl = rpc.url,
      silenceMs,
      awayAfterMs,
      aloneMs,
      compareMs,
      startSlot,
      commitment = 'confirmed',
      log = createMemoryLog({ startOffsets: {} }),
      position,
    } = {}) => {
      const stop = new AbortController();
      const stopLog = new AbortController();
      const events: StreamEvent[] = [];
      const store: StreamStore =
        position === undefined
          ? model
          : { ...model, position, applied: async () => (await model.position())?.slot ?? null };
      const reading = log.run(model.apply, stopLog.signal);
      const streaming = runStream({
        ...{ endpoint, xToken: null, commitment, log, store, logger },
        programId: chain.programId,
        launchpadProgramId: 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
        rpc: createRpc(rpcUrl, { commitment }),
        signal: stop.signal,
        ...(silenceMs === undefined ? {} : { silenceMs }),
        ...(awayAfterMs === undefined ? {} : { awayAfterMs }),
        ...(aloneMs === undefined ? {} : { aloneMs }),
        ...(compareMs === undefined ? {} : { compareMs }),
        ...(startSlot === undefined ? {} : { startSlot }),
        rotaMs: 20,
        againAfterMs: 100,
        onEvent: (event) => events.push(event),
      });
      const self: Running = {
        events,
        stop: async () => {
          stop.abort();
          await streaming;
          stopLog.abort();
          await reading;
          running.delete(self);
        },
      };
      running.add(self);
      return self;
    },
    settled: async () => {
      // A stream that connects after the last block receives nothing before the next.
      await stage.liveUntil('it streams', () => model.markers.transactions.length > 0);
      let madeAt = performance.now();
      await awaited(async () => {
        if (performance.now() - madeAt > RESTS_MS) {
          await chain.produce([]);
          madeAt = performance.now();
        }
        const [first] = await model.openGaps();
        // A gap is read once the chain has gone on behind it.
        if (first !== undefined) for (let made = 0; made < 4; made += 1) await chain.produce([]);
        const position = await model.position();
        const { slot: tip } = chain.tip();
        if (position?.slot !== tip || position.followed !== tip)
          throw new Error(`marked up to ${position?.slot}, followed up to ${position?.followed}, of ${tip}`);
        const [open] = await model.openGaps();
        if (open !== undefined) throw new Error(`the gap from ${open.fromSlot} is open`);
      });
    },
    close: async () => {
      await Promise.all([...running].map((one) => one.stop()));
      await Promise.all([geyser.close(), rpc.close()]);
      chain.close();
    },
  };
  return stage;
}

/** Resolves once `so` holds. */
export const until = (what: string, so: () => boolean): Promise<void> =>
  awaited(() => {
    if (!so()) throw new Error(`not yet: ${what}`);
  });
