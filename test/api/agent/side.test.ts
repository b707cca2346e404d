import { expect, onTestFinished, test } from 'vitest';
import { openAgentSide } from '../../../api/agent/side.ts';
import type { OwnRoute } from '../../../api/http/route.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { openPool } from '../../../api/postgres/pool.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { deadUrl } from '../../support/answering.ts';
import { awaited } from '../../support/awaited.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { openSwitchboard } from '../../support/switchboard.ts';
import { key } from '../support/rows.ts';
import { patientPool } from './support/patient-db.ts';

test('queries for agents have store connections of their own and do not wait behind readers', async () => {
  const asked: string[] = [];
  const store = {
    // The store's shared queries, all in use by readers and ingestion: they never answer.
    query: () => {
      asked.push('of all');
      return new Promise<never>(() => {});
    },
    aside: () => ({
      query: async () => {
        asked.push('of agents');
        return [];
      },
    }),
  } as unknown as Store;
  const postgresUrl = await freshPostgresUrl();
  const db = openPool(postgresUrl);
  await migratePostgres(db);
  await db.close();
  const side = await openAgentSide({
    ...{ config: readConfig({ POSTGRES_URL: postgresUrl }), publicUrl: 'http://api.example' },
    ...{ rpcUrls: [await deadUrl()], currentStore: () => store, logger: createLogger('silent', 'test') },
  });
  const route = side.routes.find(({ path }) => path === '/api/agent/challenge') as OwnRoute;
  const { status, body } = await route.handler({
    ...{ params: {}, query: new URLSearchParams(), headers: {}, clientAddress: '192.0.2.1', now: Date.now() },
    body: { mint: key('coin'), agent: key('agent') },
  });
  expect([status, body]).toMatchObject([503, { code: 'chain_unreachable' }]);
  expect(new Set(asked)).toEqual(new Set(['of agents']));
  await side.close();
});

test('a Postgres that is unreachable when npm start begins is migrated once it answers', async () => {
  const url = new URL(await freshPostgresUrl());
  const way = await openSwitchboard();
  way.answer((socket) => socket.destroy());
  const there = Number(url.port);
  url.port = String(way.port);
  const side = await openAgentSide({
    ...{ config: readConfig({ POSTGRES_URL: url.href }), publicUrl: 'http://api.example', migrates: true },
    ...{ rpcUrls: [await deadUrl()], logger: createLogger('silent', 'test') },
    currentStore: () => ({}) as Store,
  });
  onTestFinished(async () => {
    await side.close();
    await way.close();
  });
  // Readiness does not wait for it.
  await side.ready;
  await expect(side.probe()).rejects.toThrow();
  way.connect(there);
  await awaited(() => side.probe());
  expect(await side.readPosts(key('coin'), 10, 0)).toMatchObject({ posts: [] });
});

test('a read that comes before npm start has migrated the server waits until the tables exist', async () => {
  const url = await freshPostgresUrl();
  const other = patientPool(url);
  const letGo = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  // As a second process that migrates.
  const making = other.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock(7221035001)');
    held.resolve();
    await letGo.promise;
  });
  await held.promise;
  const side = await openAgentSide({
    ...{ config: readConfig({ POSTGRES_URL: url }), publicUrl: 'http://api.example', migrates: true },
    ...{ rpcUrls: [await deadUrl()], logger: createLogger('silent', 'test') },
    currentStore: () => ({}) as Store,
  });
  onTestFinished(async () => {
    letGo.resolve();
    await making;
    await Promise.all([side.close(), other.close()]);
  });
  let isAnswered = false;
  const asked = side.readPosts(key('coin'), 10, 0).finally(() => {
    isAnswered = true;
  });
  asked.catch(() => undefined);
  // The process polls whether it is its turn.
  const looks = new Set<string>();
  await awaited(async () => {
    const found = await other.query<{ at: string }>(
      `SELECT query_start::text AS at FROM pg_stat_activity
       WHERE datname = current_database() AND query LIKE '%pg_try_advisory_xact_lock%' AND pid != pg_backend_pid()`,
    );
    for (const { at } of found) looks.add(at);
    expect(looks.size).toBeGreaterThan(5);
  });
  expect(isAnswered).toBe(false);
  letGo.resolve();
  expect(await asked).toMatchObject({ posts: [] });
});
