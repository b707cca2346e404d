import { asideOf, type Store } from '../../clickhouse/client.ts';
import { agentChangedBehind } from '../../clickhouse/queries/activity/agent-changes.ts';
import { lastPlace, ofIndexedChain } from '../../clickhouse/queries/progress/indexed-chain.ts';
import { policySlots } from '../../clickhouse/queries/states/policy.ts';
import type { Config } from '../../runtime/config/config.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { type Commitment, createRpc, type NodeWaits } from '../../runtime/rpc/rpc.ts';
import type { NumberedPosts, ReadPosts } from '../deps/posts.ts';
import type { Route } from '../http/route.ts';
import { openDb } from '../postgres/connect.ts';
import { deferred } from '../postgres/deferred.ts';
import { migratePostgres, mustBeCurrent } from '../postgres/migrate.ts';
import { createSchemaProbe } from '../postgres/schema-probe.ts';
import { watchPostgres } from '../postgres/watch.ts';
import { createAgentParts } from './create-agent-parts.ts';
import { runSweep } from './limits/sweep.ts';
import { numberedPosts, readPosts } from './posts/feed.ts';
import { agentRoutes } from './routes.ts';

export interface AgentSide {
  routes: Route[];
  readPosts: ReadPosts;
  numberedPosts: NumberedPosts;
  /**
   * Resolves once Postgres is open, rejects where it cannot be. Until then the agents' routes wait, the others answer.
   */
  ready: Promise<void>;
  /** Throws where Postgres does not answer, or lacks migrations, which the error names. */
  probe(): Promise<void>;
  /** Rejects once Postgres turns out to be newer than this version. */
  refused: Promise<never>;
  close(): Promise<void>;
}

export interface AgentSideOptions {
  config: Config;
  /** The API's own address. */
  publicUrl: string;
  rpcUrls: readonly string[];
  /** Shared with everything else in this process that asks these nodes. */
  waits?: NodeWaits;
  currentStore(): Store;
  logger: Logger;
  /** Whether this process also migrates a Postgres server, so that nobody need run `migrate`. */
  migrates?: boolean;
}

/**
 * A node that takes longer counts as unreachable: an agent that waits gets its post, one that is refused starts over.
 */
const RPC_TIMEOUT_MS = 5_000;
/** Agents' own, so that they never wait behind readers: the stored slot and a change of agent are asked in parallel. */
const STORE_CONNECTIONS = 2;
const RPC_MAX_BYTES = 1024 * 1024;

/** The agents' side over its Postgres. An embedded one is migrated here, a server only where `migrates` is set. */
export async function openAgentSide(options: AgentSideOptions): Promise<AgentSide> {
  const { config, publicUrl, rpcUrls, waits = new Map(), currentStore, logger, migrates = false } = options;
  const opening = openDb(config).then(async (opened) => {
    if (config.postgresUrl === null) await migratePostgres(opened);
    // If this fails, the probe below tries again and says why: routes that need no Postgres answer meanwhile.
    else if (migrates) await migratePostgres(opened).catch(() => undefined);
    return opened;
  });
  opening.catch((error: unknown) => logger.error({ reason: messageOf(error) }, 'no Postgres for the agents'));
  const ready = opening.then(() => undefined);
  // The caller may await `ready` but need not: without this a failure would be an unhandled rejection.
  ready.catch(() => undefined);
  const db = deferred(opening);
  const ownStore = () => asideOf(currentStore(), 'agents', STORE_CONNECTIONS);
  const rpcAt = (commitment: Commitment) =>
    ofIndexedChain(
      createRpc(rpcUrls, { commitment, timeoutMs: RPC_TIMEOUT_MS, maxBytes: RPC_MAX_BYTES, waits }),
      ownStore,
      (words) => logger.warn(words),
    );
  const { commitment } = config;
  const policyRpc = rpcAt('confirmed');
  const parts = createAgentParts({
    ...{ db, policyRpc, commitment },
    rpc: commitment === 'confirmed' ? policyRpc : rpcAt(commitment),
    programId: config.programId,
    storedSlot: async (address) => BigInt((await policySlots(ownStore(), [address])).get(address)?.slot ?? 0),
    agentChanged: (mint, after) => agentChangedBehind(ownStore(), mint, after),
    place: async () => lastPlace(ownStore()),
    serviceName: config.serviceName,
    publicUrl,
    optionsVenueId: config.optionsVenueId,
    venue: config.optionsVenueUrl === null ? null : { url: config.optionsVenueUrl },
  });
  const stop = new AbortController();
  const makeSure = () => (migrates ? migratePostgres(db) : mustBeCurrent(db));
  const { probe, refused } = createSchemaProbe(db, config.postgresUrl === null ? null : makeSure);
  const sweeping = runSweep(db, logger, stop.signal);
  if (config.postgresUrl !== null) void watchPostgres(probe, logger, stop.signal);
  return {
    routes: agentRoutes(parts),
    readPosts: (mint, limit, offset) => readPosts(db, mint, limit, offset),
    numberedPosts: numberedPosts(db),
    ready,
    probe,
    refused,
    close: async () => {
      stop.abort();
      await sweeping;
      await db.close();
    },
  };
}
