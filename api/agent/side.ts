import { asideOf, type Store } from '../../clickhouse/client.ts';
import { agentChangedBehind } from '../../clickhouse/queries/activity/agent-changes.ts';
import { lastPlace, ofIndexedChain } from '../../clickhouse/queries/progress/indexed-chain.ts';
import { policySlots } from '../../clickhouse/queries/states/policy.ts';
import type { Config } from '../../runtime/config/config.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { createRpc, type NodeWaits } from '../../runtime/rpc/rpc.ts';
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
  /** Rejects where there is no Postgres to be had; until then the agents' routes wait and the others answer. */
  ready: Promise<void>;
  /** Throws where Postgres does not answer, and says what it lacks. */
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
  /** Shared with whatever else of the process asks these nodes. */
  waits?: NodeWaits;
  currentStore(): Store;
  logger: Logger;
  /** A server is brought to the current schema by this process too: nobody is asked to run `migrate`. */
  migrates?: boolean;
}

/** A node that takes longer counts as none: an agent that waits has its post, one that is refused begins anew. */
const RPC_TIMEOUT_MS = 5_000;
/** An agent waits behind no reader: which slot is held and whether the agent changed are asked side by side. */
const STORE_CONNECTIONS = 2;
const RPC_MAX_BYTES = 1024 * 1024;

/** The agents' side over its Postgres. The embedded one is brought to the current schema; a server else by `migrate`. */
export async function openAgentSide(options: AgentSideOptions): Promise<AgentSide> {
  const { config, publicUrl, rpcUrls, waits, currentStore, logger, migrates = false } = options;
  const opening = openDb(config).then(async (opened) => {
    if (config.postgresUrl === null) await migratePostgres(opened);
    // Where it fails the probe below tries again and says why: reads go on without one that is away.
    else if (migrates) await migratePostgres(opened).catch(() => undefined);
    return opened;
  });
  opening.catch((error: unknown) => logger.error({ reason: messageOf(error) }, 'no Postgres for the agents'));
  const ready = opening.then(() => undefined);
  // Whoever starts the process may wait for it; nobody must.
  ready.catch(() => undefined);
  const db = deferred(opening);
  const ownStore = () => asideOf(currentStore(), 'agents', STORE_CONNECTIONS);
  const parts = createAgentParts({
    db,
    rpc: ofIndexedChain(
      createRpc(rpcUrls, {
        ...{ commitment: 'confirmed', timeoutMs: RPC_TIMEOUT_MS, maxBytes: RPC_MAX_BYTES },
        ...(waits && { waits }),
      }),
      ownStore,
      (words) => logger.warn(words),
    ),
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
