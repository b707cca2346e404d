import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readPosts } from '../../../api/agent/posts/feed.ts';
import { migratePostgres } from '../../../api/postgres/migrate.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { startAgentApi } from './support/agent-api.ts';
import { type FakeRpc, startFakeRpc } from './support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from './support/fake-venue.ts';
import { testKey } from './support/keys.ts';
import { type KillableApi, killableApi } from './support/killable-api.ts';
import { patientDb, patientPool } from './support/patient-db.ts';
import { ENGINES } from './support/postgres.ts';

const POST = { kind: 'idle', venue: null, ref: null };

describe('kill -9 under load', () => {
  let server: PostgresServer;
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let child: KillableApi | null = null;
  let minted = 0;
  const directory = mkdtempSync(path.join(tmpdir(), 'agent-crash-'));

  beforeAll(async () => {
    [server, rpc, venue] = await Promise.all([startPostgres(), startFakeRpc(), startFakeVenue()]);
  });
  afterAll(async () => {
    await Promise.all([server.stop(), rpc.close(), venue.close()]);
    rmSync(directory, { recursive: true, force: true });
  });
  afterEach(() => child?.kill());

  function policy() {
    minted += 1;
    const mint = testKey(`crash mint ${minted}`).address;
    const agent = testKey(`crash agent ${minted}`);
    rpc.policy({ mint, agent: agent.address });
    return { mint, agent };
  }

  const send = async (url: string, route: string, body: unknown, token?: string) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const reply = await fetch(`${url}/api/agent/${route}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  };

  async function login(url: string, { mint, agent }: ReturnType<typeof policy>): Promise<string> {
    const { body } = await send(url, 'challenge', { mint, agent: agent.address });
    const signature = agent.sign(String(body.message)).toString('base64');
    const request = { mint, agent: agent.address, nonce: body.nonce, signature };
    return String((await send(url, 'session', request)).body.token);
  }

  test.each(ENGINES)(
    'killing the API over %s loses no acknowledged post, and stores none in part or twice',
    async (engine) => {
      const postgresUrl = engine === 'Postgres' ? await server.freshUrl() : null;
      const settings = { postgresUrl, dataDir: directory, rpcUrl: rpc.url, venueUrl: venue.url };
      const api = killableApi(settings);
      child = api;
      let url = await api.start();
      const who = policy();
      const token = await login(url, who);
      const acknowledged: Record<string, unknown>[] = [];
      let enough: () => void;
      const some = new Promise<void>((resolve) => {
        enough = resolve;
      });
      const texts = Array.from({ length: 20 }, (_, n) => `post ${n} ${'🦊'.repeat(900)}`);
      const sent = texts.map(async (text) => {
        const reply = await send(url, 'posts', { ...POST, text }, token).catch(() => null);
        if (reply?.status === 201) acknowledged.push(reply.body);
        if (acknowledged.length === 3) enough();
      });
      await some;
      await api.kill();
      await Promise.all(sent);
      const db = await patientDb({ postgresUrl, dataDir: directory });
      const { posts, total } = await readPosts(db, who.mint, 100, 0);
      await db.close();
      expect(acknowledged.length).toBeGreaterThanOrEqual(3);
      expect(total).toBe(posts.length);
      for (const post of acknowledged) expect(posts).toContainEqual(post);
      for (const post of posts) {
        expect(texts).toContain(post.text);
        expect(post).toMatchObject({
          mint: who.mint,
          agent: who.agent.address,
          model: { name: 'model one' },
        });
      }
      expect(new Set(posts.map(({ text }) => text)).size).toBe(posts.length);
      url = await api.start();
      const open = { instrument: CALL, direction: 'long', size: '1', reason: 'r' };
      expect((await send(url, 'options/open', open, token)).status).toBe(201);
      expect((await send(url, 'options/open', open, token)).status).toBe(409);
      await api.kill();
    },
  );

  test('killing Postgres loses no acknowledged post and stores none twice; the API goes on once it is back', async () => {
    const db = patientPool(await server.freshUrl());
    await migratePostgres(db);
    const api = await startAgentApi({ db, rpc, venueUrl: venue.url });
    const who = policy();
    const token = await api.login(who.mint, who.agent);
    const acknowledged: Record<string, unknown>[] = [];
    let enough: () => void;
    const some = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const sent = Array.from({ length: 20 }, async (_, n) => {
      const reply = await api.call('POST', 'posts', { ...POST, text: `post ${n}` }, token);
      expect([201, 500, 503]).toContain(reply.status);
      expect(reply.text).not.toContain(token);
      if (reply.status === 201) acknowledged.push(reply.body);
      if (acknowledged.length === 3) enough();
    });
    await some;
    await server.crash();
    await Promise.all(sent);
    const { posts } = await readPosts(db, who.mint, 100, 0);
    for (const post of acknowledged) expect(posts).toContainEqual(post);
    expect(new Set(posts.map(({ text }) => text)).size).toBe(posts.length);
    const open = { instrument: CALL, direction: 'long', size: '1', reason: 'r' };
    expect((await api.call('POST', 'options/open', open, token)).status).toBe(201);
    await api.close();
    await db.close();
  });
});
