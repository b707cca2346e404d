import type { Registry } from 'prom-client';
import { openAgentSide } from '../api/agent/side.ts';
import type { Bound, Listening } from '../api/http/listen.ts';
import { createHandOver } from '../api/latest/feed.ts';
import { createLatest } from '../api/latest/latest.ts';
import { serveApi } from '../api/serve.ts';
import { asideOf, type Store } from '../clickhouse/client.ts';
import { ofIndexedChain } from '../clickhouse/queries/progress/indexed-chain.ts';
import { letterMetrics } from '../ingest/materialise/letters/metrics.ts';
import { createMaterialiser } from '../ingest/materialise/materialiser.ts';
import { materialiseMetrics } from '../ingest/materialise/metrics.ts';
import { keepQuoteHours } from '../ingest/materialise/quote-hours.ts';
import { pollMetrics } from '../ingest/poll/metrics.ts';
import { runPollers } from '../ingest/poll/pollers.ts';
import { streamMetrics } from '../ingest/stream/metrics.ts';
import { storedState } from '../ingest/stream/stored-state.ts';
import { runStream } from '../ingest/stream/stream.ts';
import { type Config, publicUrlOf, required } from '../runtime/config/config.ts';
import type { Logger } from '../runtime/process/log.ts';
import type { Service } from '../runtime/process/service.ts';
import { createRpc, type NodeWaits } from '../runtime/rpc/rpc.ts';
import { decodeKey } from '../schemas/solana/base58.ts';
import { type Counters, createCounters } from './counters.ts';
import { lingerAfter } from './linger.ts';
import { mustBeIndexedChain } from './local-chain.ts';
import { openLog } from './log.ts';
import { untilAnotherServes } from './other-serving.ts';
import { openStores, prepareStore } from './stores.ts';

export interface System {
  store: Store;
  api: Listening;
  counters: Counters;
  /** Rejects with the error of the first stage that fails, or once Postgres is newer than this version. */
  failed: Promise<never>;
  /**
   * Once the signal is aborted: closes the API, awaits all stages, then closes the log and the store.
   * @throws the error of the log's stage
   */
  stop(): Promise<void>;
}

export interface SystemOptions {
  /** The address that the API serves at, bound already. */
  api: Bound;
  logger: Logger;
  signal: AbortSignal;
  registry: Registry;
  /** Has `/ready` name something as missing while its probe throws or does not answer. */
  needs: Service['needs'];
  /** JSON-RPC address of the local chain; null where another chain is followed. */
  localRpc: string | null;
}

/** All stages in one process: the same code as the separate processes run. */
export async function startSystem(config: Config, options: SystemOptions): Promise<System> {
  const { api, logger, signal, registry, needs, localRpc } = options;
  const { programId } = config;
  const { yellowstoneEndpoint: endpoint, solanaRpcUrl: rpcUrls } = required(config, {
    yellowstoneEndpoint: 'the chain is streamed from it',
    solanaRpcUrl: 'history is read over it',
  });
  const { store, reads, serving } = await openStores(config, logger);
  const lease = await prepareStore(store, config, logger);
  if (localRpc !== null) await mustBeIndexedChain(store, createRpc([localRpc], config));

  const publicUrl = publicUrlOf(config, api.port);
  // Shared, so that the agents' side too leaves alone a node that asks for it.
  const waits: NodeWaits = new Map();
  const agents = await openAgentSide({
    ...{ config, publicUrl, rpcUrls, waits, logger },
    currentStore: () => store,
    migrates: true,
  });
  needs('ClickHouse', () => reads.query('SELECT 1'));
  needs('Postgres', agents.probe);
  const counters = createCounters();
  const figures = streamMetrics(registry);
  // Other processes may write to a server too: there the table of changes is read instead.
  const handOver = store.exclusive ? createHandOver() : null;
  const rpc = createRpc(rpcUrls, { commitment: config.commitment, waits });
  let idleMs = () => 0;
  const lingerMs = () => (counters.gaps.size === 0 ? lingerAfter(idleMs()) : 0);
  const writing = materialiseMetrics(registry, async (topic) => log.ends(topic));
  letterMetrics(registry, () => store);
  const log = await openLog(config, store, logger, { lingerMs, onAssigned: writing.assigned, lease, signal });
  const materialise = createMaterialiser({
    store,
    programId: decodeKey(programId) as Uint8Array,
    onApplied: (batch) => {
      counters.applied(batch);
      handOver?.applied();
    },
    onChanged: (changes) => handOver?.note(changes),
    onDeadLetter: ({ what }) => writing.deadLetter(what),
    onTakenOver: writing.takenOver,
  });
  const stopLog = new AbortController();
  const stages = [
    log.run(writing.measured(materialise), stopLog.signal),
    runStream({
      endpoint,
      xToken: config.yellowstoneXToken,
      programId,
      launchpadProgramId: config.launchpadProgramId,
      startSlot: config.programStartSlot,
      commitment: config.commitment,
      rpc,
      log,
      store: { ...storedState(store), position: log.position, ...(log.applied && { applied: log.applied }) },
      logger,
      signal,
      onEvent: (event) => {
        counters.streamed(event);
        figures.onEvent(event);
      },
    }),
    untilAnotherServes(config, { store: reads, serving }, { logger, signal }),
    keepQuoteHours({ store: asideOf(store, 'hours', 1), logger, signal }),
    runPollers({
      ...{ config, store, ...pollMetrics(log, registry), logger, signal },
      rpc: ofIndexedChain(
        rpc,
        () => reads,
        (words) => logger.debug(words),
      ),
    }),
  ];
  const latest = createLatest({
    currentStore: () => reads,
    clock: Date.now,
    signal,
    ...(handOver && { handOver }),
    onAsked: () => log.handOutNow?.(),
    onError: (error) => logger.debug({ err: error }, 'what changed was not read'),
  });
  idleMs = latest.idleMs;
  const isLocalChain = localRpc !== null;
  serveApi({ config, latest, agents, logger, registry, bound: api, signal, isLocalChain });
  return {
    store,
    api,
    counters,
    failed: new Promise((_, reject) => {
      for (const stage of [...stages, agents.refused]) stage.catch(reject);
    }),
    stop: async () => {
      await api.close();
      await agents.close();
      await Promise.allSettled(stages.slice(1));
      stopLog.abort();
      try {
        await stages[0];
      } finally {
        await log.close();
        await store.close();
      }
    },
  };
}
