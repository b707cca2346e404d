import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { type AppOptions, createApp } from '../../../api/app.ts';
import type { ReadSettings } from '../../../api/deps/settings.ts';
import { listen } from '../../../api/http/listen.ts';
import type { Route } from '../../../api/http/route.ts';
import { createHandOver } from '../../../api/latest/feed.ts';
import { createLatest, type Latest, type LatestOptions } from '../../../api/latest/latest.ts';
import { readRoutes } from '../../../api/routes.ts';
import type { Params, Store } from '../../../clickhouse/client.ts';
import type { EventRow } from '../../../clickhouse/tables.ts';
import { recomputeKinds } from '../../../ingest/materialise/rollups/kinds.ts';
import { intervalOf } from '../../../ingest/materialise/rollups/slot-intervals.ts';
import { InternalError } from '../../../schemas/responses/parts.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { idSetting, perVenue, REMOTE_VENUE_NAMES } from '../../../schemas/venues/remote.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { insertWritten } from '../../support/written.ts';
import { key, LAUNCHPAD, PROGRAM, TIME } from './rows.ts';

export const SETTINGS: ReadSettings = {
  serviceName: 'test-indexer',
  programId: encodeBase58(PROGRAM),
  launchpadProgramId: encodeBase58(LAUNCHPAD),
  ammProgramId: key('amm'),
  ...perVenue(idSetting, (venue) => `${venue}_x`),
  launchpadVenueId: 'launch_x',
  ammVenueId: 'amm_x',
  polledVenues: REMOTE_VENUE_NAMES,
  pricesFrom: ['catalogue', 'second'],
  readingMaxAgeMs: 60_000,
};

/** 500 s after the states of the rows. */
export const NOW = (TIME + 500) * 1000;

export interface Reply<T = unknown> {
  status: number;
  headers: Headers;
  text: string;
  body: T;
}

export interface TestApi {
  url: string;
  latest: Latest;
  /** The answer, after its body was checked against the schema its route declares for the status. */
  get<T>(path: string, headers?: Record<string, string>): Promise<Reply<T>>;
  request(method: string, path: string, init?: RequestInit): Promise<Reply>;
  at(now: number): void;
  insert(table: string, rows: object[]): Promise<void>;
  truncate(...tables: string[]): Promise<void>;
  /** How many queries that contain this text the store was asked so far. */
  queries(text: string): number;
  close(): Promise<void>;
}

export type ApiOptions = Partial<AppOptions> & { memory?: Partial<LatestOptions> };

export async function startApi(store: Store, { memory, ...options }: ApiOptions = {}): Promise<TestApi> {
  let now = NOW;
  const queries: string[] = [];
  const handOver = createHandOver();
  const counting = (one: Store): Store => {
    const { aside } = one;
    return {
      ...one,
      ...(aside === undefined ? {} : { aside: (connections) => counting(aside(connections)) }),
      query: (sql, params) => {
        queries.push(sql);
        return one.query(sql, params);
      },
      lines: (sql, params) => {
        queries.push(sql);
        return one.lines(sql, params);
      },
    };
  };
  const counted = counting(store);
  const clock = () => now;
  const latest = createLatest({
    ...{ currentStore: () => counted, clock, ...(memory ?? { handOver }) },
    // On a busy machine a slow store must not count as lost.
    times: { lostMs: PATIENCE_MS, ...memory?.times },
  });
  const app = createApp({
    latest,
    settings: SETTINGS,
    clock: () => now,
    ...options,
  });
  const routes = readRoutes({
    latest,
    settings: SETTINGS,
    readPosts: null,
  });
  const { port, close } = await listen(app, '127.0.0.1', 0);
  const url = `http://127.0.0.1:${port}`;

  async function request(method: string, path: string, init: RequestInit = {}): Promise<Reply> {
    const response = await fetch(url + path, { method, ...init });
    const text = await response.text();
    const isJson =
      response.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
  }

  return {
    url,
    latest,
    request,
    get: async <T>(path: string, headers: Record<string, string> = {}) => {
      const reply = await request('GET', path, { headers });
      checkAgainstRoute(routes, path, reply);
      return reply as Reply<T>;
    },
    at: (millis) => {
      now = millis;
      handOver.noteUnknownChanges();
    },
    insert: async (table, rows) => {
      await insertWritten(store, table, rows);
      if (table === 'events') await countKinds(store, rows as EventRow[]);
      handOver.noteUnknownChanges();
    },
    truncate: async (...tables) => {
      for (const table of tables) await store.command(`TRUNCATE TABLE ${table}`);
      handOver.noteUnknownChanges();
    },
    queries: (text) => queries.filter((sql) => sql.includes(text)).length,
    close,
  };
}

function checkAgainstRoute(routes: readonly Route[], path: string, reply: Reply): void {
  const pathname = new URL(path, 'http://x').pathname;
  const route = routes.find((candidate) =>
    new RegExp(`^${candidate.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(pathname),
  );
  if (route === undefined || [304, 431].includes(reply.status)) return;
  const schema = reply.status === 500 ? InternalError : route.responses[reply.status];
  expect(schema, `${path} answered ${reply.status}, which it does not declare: ${reply.text}`).toBeDefined();
  if (schema === undefined) return;
  const errors = Value.Check(schema, reply.body) ? [] : Value.Errors(schema, reply.body);
  expect(errors, `${path} ${reply.text.slice(0, 2000)}`).toEqual([]);
}

/** Counts the kinds of events in the slot intervals of these events, as a materialiser does. */
export async function countKinds(store: Store, events: readonly EventRow[]): Promise<void> {
  const partitions = [...new Set(events.map((row) => row.log_partition))];
  const intervals = new Set(events.map(({ slot }) => intervalOf(BigInt(slot))));
  const write = (sql: string, params: Params) =>
    store.command(sql, { ...params, partitions, offsets: partitions.map(() => 1) });
  await recomputeKinds(write, { mints: new Set(), intervals });
}
