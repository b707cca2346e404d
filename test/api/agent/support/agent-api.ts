import { createAgentParts } from '../../../../api/agent/create-agent-parts.ts';
import { readPosts } from '../../../../api/agent/posts/feed.ts';
import { agentRoutes } from '../../../../api/agent/routes.ts';
import { createApp } from '../../../../api/app.ts';
import { listen } from '../../../../api/http/listen.ts';
import { createHandOver } from '../../../../api/latest/feed.ts';
import { createLatest } from '../../../../api/latest/latest.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { createRpc } from '../../../../runtime/rpc/rpc.ts';
import type { SlotTime } from '../../../../runtime/rpc/same-chain.ts';
import { SETTINGS } from '../../support/api.ts';
import { type ApiAt, apiAt } from './api-at.ts';
import type { FakeRpc } from './fake-rpc.ts';

export const PUBLIC_URL = 'https://agents.example/api';

export interface AgentApi extends ApiAt {
  /** Slot at which the index holds every policy. */
  storedSlot: bigint;
  /** Slots of the changes of agents that the index holds, by mint. */
  agentChanges: Map<string, bigint>;
  /** When the index is asked, `down` fails and `hang` never answers. */
  index: 'up' | 'down' | 'hang';
  /** Tells the API that something was written to its store. */
  written(): void;
  close(): Promise<void>;
}

export interface AgentApiOptions {
  db: Db;
  rpc: Pick<FakeRpc, 'url'>;
  venueUrl: string | null;
  publicUrl?: string;
  /** Timeouts of requests to the node and the venue; by default longer than any answer takes. */
  nodeMs?: number;
  venueMs?: number;
  /** Budgets of requests to the chain and the venue; by default more than any test needs. */
  chainBudget?: { perSecond: number; burst: number };
  venueBudget?: { perSecond: number; burst: number };
  /** How far the index says that it has come; by default nothing is applied yet. */
  place?: () => Promise<SlotTime | null>;
  /** The database of the read routes; none by default. */
  store?: Store;
}

export async function startAgentApi(options: AgentApiOptions): Promise<AgentApi> {
  const { db, rpc, venueUrl, publicUrl = PUBLIC_URL, store } = options;
  const { nodeMs = 20_000, venueMs = 20_000 } = options;
  const unbounded = { perSecond: 1000, burst: 1000 };
  const reading = createRpc(rpc.url, { commitment: 'confirmed', timeoutMs: nodeMs });
  const parts = createAgentParts({
    ...{ db, policyRpc: reading, rpc: reading, commitment: 'confirmed' },
    programId: SETTINGS.programId,
    ...(options.chainBudget ?? unbounded),
    storedSlot: () => indexed(api.storedSlot),
    place: options.place ?? (async () => null),
    agentChanged: (mint, after) => {
      const slot = api.agentChanges.get(mint);
      return indexed(slot !== undefined && slot > after ? slot : null);
    },
    serviceName: SETTINGS.serviceName,
    publicUrl,
    optionsVenueId: SETTINGS.optionsVenueId,
    venue:
      venueUrl === null
        ? null
        : { url: venueUrl, timeoutMs: venueMs, waitMs: 3 * venueMs, ...(options.venueBudget ?? unbounded) },
  });
  const indexed = async <T>(answer: T): Promise<T> => {
    if (api.index === 'down') throw new Error('the index is down');
    return api.index === 'hang' ? new Promise<never>(() => {}) : answer;
  };
  const handOver = createHandOver();
  const app = createApp({
    latest: createLatest({
      currentStore: () => {
        if (store === undefined) throw new Error('no store here');
        return store;
      },
      clock: Date.now,
      handOver,
    }),
    readPosts: (mint, limit, offset) => readPosts(db, mint, limit, offset),
    settings: SETTINGS,
    clock: Date.now,
    agentRoutes: agentRoutes(parts),
    trustProxy: 1,
  });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const api: AgentApi = {
    ...apiAt(`http://127.0.0.1:${port}`),
    ...{ storedSlot: 0n, agentChanges: new Map(), index: 'up', written: handOver.noteUnknownChanges, close },
  };
  return api;
}

const TABLES = ['posts', 'exposures', 'sessions', 'spent_nonces'] as const;

/** How many rows there are of everything that an agent can write. */
export async function rowCounts(db: Db): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of TABLES) {
    const [row] = await db.query<{ n: string }>(`SELECT count(*)::text AS n FROM ${table}`);
    counts[table] = Number(row?.n);
  }
  return counts;
}
