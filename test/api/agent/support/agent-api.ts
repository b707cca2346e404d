import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { readPosts } from '../../../../api/agent/feed.ts';
import { createAgentParts } from '../../../../api/agent/parts.ts';
import { agentRoutes } from '../../../../api/agent/routes.ts';
import { createApp } from '../../../../api/app.ts';
import { createAppliedSignal } from '../../../../api/applied.ts';
import { listen } from '../../../../api/listen.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { createRpc } from '../../../../runtime/rpc.ts';
import { SETTINGS } from '../../support/api.ts';
import type { FakeRpc } from './fake-rpc.ts';
import type { TestKey } from './keys.ts';

export const PUBLIC_URL = 'https://agents.example/api';

export interface Reply {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
  text: string;
}

export interface AgentApi {
  url: string;
  /** Slot at which the index holds every policy. */
  storedSlot: bigint;
  /** `down` fails and `hang` never answers when the index is asked. */
  index: 'up' | 'down' | 'hang';
  call(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
    from?: string,
    headers?: Record<string, string>,
  ): Promise<Reply>;
  challenge(mint: string, agent: string, from?: string): Promise<Reply>;
  /** A token for the key, by challenge and signature. */
  login(mint: string, key: TestKey): Promise<string>;
  close(): Promise<void>;
}

export interface AgentApiOptions {
  db: Db;
  rpc: Pick<FakeRpc, 'url'>;
  venueUrl: string | null;
  publicUrl?: string;
  perPolicy?: number;
  /** How long node and venue are waited for: by default longer than any that answers takes. */
  timeoutMs?: number;
  /** The database of the read routes; none by default. */
  store?: Store;
}

let addresses = 0;
/** A client address that nobody used before, for tests that are not about limits of addresses. */
export function freshAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

export async function startAgentApi(options: AgentApiOptions): Promise<AgentApi> {
  const { db, rpc, venueUrl, publicUrl = PUBLIC_URL, perPolicy = 1000, store } = options;
  const { timeoutMs = 20_000 } = options;
  const parts = createAgentParts({
    db,
    rpc: createRpc(rpc.url, { commitment: 'confirmed', timeoutMs }),
    programId: SETTINGS.programId,
    storedSlot: async () => {
      if (api.index === 'down') throw new Error('the index is down');
      return api.index === 'hang' ? new Promise<never>(() => {}) : api.storedSlot;
    },
    serviceName: SETTINGS.serviceName,
    publicUrl,
    optionsVenueId: SETTINGS.optionsVenueId,
    venue:
      venueUrl === null
        ? null
        : { url: venueUrl, timeoutMs, waitMs: 3 * timeoutMs, perPolicy, perSecond: 1000, burst: 1000 },
  });
  const routes = agentRoutes(parts);
  const app = createApp({
    currentStore: () => {
      if (store === undefined) throw new Error('no store here');
      return store;
    },
    readPosts: (mint, limit, offset) => readPosts(db, mint, limit, offset),
    settings: SETTINGS,
    clock: Date.now,
    applied: createAppliedSignal(),
    agentRoutes: routes,
    trustProxy: 1,
  });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const api: AgentApi = {
    url: `http://127.0.0.1:${port}`,
    storedSlot: 0n,
    index: 'up',
    close,
    call: async (method, path, body, token, from = freshAddress(), headers = {}) => {
      const response = await fetch(`${api.url}/api/agent/${path}`, {
        method,
        headers: {
          'x-forwarded-for': from,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const reply = {
        status: response.status,
        headers: response.headers,
        text,
        body: JSON.parse(text) as Record<string, unknown>,
      };
      const schema = routes.find((route) => route.path === `/api/agent/${path.split('?')[0]}`)?.responses[
        response.status
      ];
      if (schema !== undefined && !Value.Check(schema, reply.body))
        expect(Value.Errors(schema, reply.body), text).toEqual([]);
      if (response.status !== 500)
        expect(schema, `${path} answered ${response.status}: ${text}`).toBeDefined();
      return reply;
    },
    challenge: (mint, agent, from) => api.call('POST', 'challenge', { mint, agent }, undefined, from),
    login: async (mint, key) => {
      const { body } = await api.challenge(mint, key.address);
      const signature = key.sign(String(body.message)).toString('base64');
      const session = await api.call('POST', 'session', {
        mint,
        agent: key.address,
        nonce: body.nonce,
        signature,
      });
      expect(session.status, session.text).toBe(200);
      return String(session.body.token);
    },
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
