import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readPosts } from '../../../../api/agent/posts/feed.ts';
import { createAgent } from '../../../../api/client/agent.ts';
import { createClient } from '../../../../api/client/client.ts';
import { NoAnswerError } from '../../../../api/client/http.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { serveAnswers } from '../../../support/answering.ts';
import { freshDatabase } from '../../../support/database.ts';
import { key, policyRow } from '../../support/rows.ts';
import { type AgentApi, PUBLIC_URL, rowCounts, startAgentApi } from '../support/agent-api.ts';
import { type FakeRpc, startFakeRpc } from '../support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from '../support/fake-venue.ts';
import { type TestKey, testKey } from '../support/keys.ts';
import { type LossyNetwork, lossyNetwork } from '../support/lossy-network.ts';
import { freshEmbedded } from '../support/postgres.ts';

const OPEN = { instrument: CALL, direction: 'long', size: '1', reason: 'a reason' } as const;

describe('the client', () => {
  let db: Db;
  let store: Store;
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let api: AgentApi;
  let mint: string;
  let agentKey: TestKey;
  let named = 0;

  beforeAll(async () => {
    db = await freshEmbedded();
    [store, rpc, venue] = await Promise.all([freshDatabase(), startFakeRpc(), startFakeVenue()]);
    api = await startAgentApi({ db, rpc, venueUrl: venue.url, store });
  });
  afterAll(async () => {
    await Promise.all([api.close(), rpc.close(), venue.close(), db.close(), store.close()]);
  });
  beforeEach(async () => {
    named += 1;
    await db.query('DELETE FROM attempts');
    mint = key(`client ${named}`);
    agentKey = testKey(`client agent ${named}`);
    rpc.policy({ mint, agent: agentKey.address });
    await store.insert('policies', [
      policyRow(`client ${named}`, 'quote', { agent: agentKey.address, mode: 'Agent' }),
    ]);
    api.written();
  });

  function agentOver(net: LossyNetwork, changes: object = {}) {
    return createAgent({
      ...{ url: api.url, publicUrl: PUBLIC_URL, service: 'test-indexer', mint, key: agentKey.secretKey },
      ...{ fetch: net.fetch, retryMs: 1, ...changes },
    });
  }

  const count = async (table: string) => (await rowCounts(db))[table] as number;

  test('signs in once for concurrent posts, and reads its feed together with the policy’s state', async () => {
    const net = lossyNetwork();
    const agent = agentOver(net);
    expect(agent.address).toBe(agentKey.address);
    const posts = await Promise.all(['a', 'b', 'c'].map((text) => agent.post({ kind: 'thesis', text })));
    const feed = await agent.feed({ limit: 2 });
    expect(feed).toMatchObject({ mint, total: 3, hasMore: true, limit: 2, offset: 0 });
    expect(feed.policy).toMatchObject({ mode: 'Agent', agent: agentKey.address, agentActive: true });
    expect(feed.posts.map(({ id }) => id)).toEqual(
      posts
        .map(({ id }) => id)
        .sort()
        .reverse()
        .slice(0, 2),
    );
    expect(net.sent.filter(({ path }) => path.endsWith('/session'))).toHaveLength(1);
  });

  test('never sends the secret in hex, base64 or base64url', async () => {
    const net = lossyNetwork();
    await agentOver(net).post({ kind: 'idle', text: 'x' });
    const everything = JSON.stringify(net.sent);
    const seed = agentKey.secretKey.subarray(0, 32);
    for (const secret of [seed, agentKey.secretKey])
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(everything).not.toContain(secret.toString(encoding).slice(0, 40));
    expect(JSON.stringify(agentOver(net))).not.toMatch(/\d,\d/);
  });

  test('signs in again if its session was ended early, and asks for a new challenge shortly before expiry', async () => {
    const net = lossyNetwork();
    let now = Date.now();
    const agent = agentOver(net, { clock: () => now });
    await agent.post({ kind: 'idle', text: '1' });
    await db.query('DELETE FROM sessions');
    await agent.post({ kind: 'idle', text: '2' });
    const sessions = () => net.sent.filter(({ path }) => path.endsWith('/session')).length;
    expect(sessions()).toBe(2);
    now += 29.5 * 60_000;
    // The client's own clock is far ahead now, so the challenge does not look fresh to it.
    await expect(agent.post({ kind: 'idle', text: '3' })).rejects.toThrow(/not issued just now/);
    expect(sessions()).toBe(2);
  });

  test.each(['answer', 'request'] as const)('a post whose %s is lost is stored once', async (when) => {
    const net = lossyNetwork();
    const agent = agentOver(net);
    const first = await agent.post({ kind: 'idle', text: 'the same' });
    net.lose = { path: '/posts', when };
    const second = await agent.post({ kind: 'idle', text: 'the same' });
    expect(second.id > first.id).toBe(true);
    expect(await readPosts(db, mint, 10, 0)).toMatchObject({ total: 2, posts: [second, first] });
  });

  test.each(['answer', 'request'] as const)('an open whose %s is lost is stored once', async (when) => {
    const net = lossyNetwork();
    const agent = agentOver(net);
    const before = await count('exposures');
    net.lose = { path: '/open', when };
    const row = await agent.open(OPEN);
    expect(row).toMatchObject({ status: 'held', ...OPEN });
    expect(await count('exposures')).toBe(before + 1);
    expect(await agent.positions()).toEqual([row]);
    await expect(agent.open(OPEN)).rejects.toMatchObject({ status: 409, code: 'already_held' });
  });

  test.each(['answer', 'request'] as const)('a release whose %s is lost is done once', async (when) => {
    const net = lossyNetwork();
    const agent = agentOver(net);
    const { positionId } = await agent.open(OPEN);
    net.lose = { path: '/close', when };
    const released = await agent.close({ positionId, reason: 'done' });
    expect(released.position).toMatchObject({ positionId, status: 'released', releaseReason: 'done' });
    expect(released.markToMark).toMatchObject({ side: 'ask', change: { value: '0' } });
    await expect(agent.close({ positionId, reason: 'done' })).rejects.toMatchObject({
      code: 'already_released',
    });
  });

  test('signs nothing, and nothing is stored, if the message names another URL than the expected one', async () => {
    const agent = agentOver(lossyNetwork(), { publicUrl: 'https://other.example' });
    const before = await rowCounts(db);
    await expect(agent.post({ kind: 'idle', text: 'x' })).rejects.toThrow(/^not signed: its URL line/);
    expect(await rowCounts(db)).toEqual(before);
  });

  test('throws ApiError for a refusal and NoAnswerError without an answer, and retries a read that was lost', async () => {
    const net = lossyNetwork();
    const agent = agentOver(net);
    await expect(agent.post({ kind: 'idle', text: '' })).rejects.toMatchObject({
      name: 'ApiError',
      status: 400,
      code: 'invalid_request',
      retryAfter: null,
    });
    const client = createClient({ url: api.url, fetch: net.fetch, retryMs: 1 });
    net.lose = { path: '/health', when: 'request' };
    expect(await client.health()).toEqual({ ok: true, service: 'test-indexer' });
    await expect(client.coin(key('nobody'))).rejects.toMatchObject({ status: 404, code: null });
    const nobody = createClient({ url: 'http://127.0.0.1:1', retryMs: 1 });
    await expect(nobody.health()).rejects.toBeInstanceOf(NoAnswerError);
  });

  test('an ApiError has the seconds of Retry-After, or null if the service names none', async () => {
    const error = (headers: Record<string, string>) => async () =>
      Response.json({ error: 'too many', code: 'rate_limited' }, { status: 429, headers });
    const thrown = (headers: Record<string, string>) =>
      createClient({ url: api.url, fetch: error(headers) })
        .post('a token', { kind: 'idle', text: 'x' })
        .catch((reason: unknown) => reason);
    const limit = { name: 'ApiError', status: 429, code: 'rate_limited' };
    expect(await thrown({ 'retry-after': '17' })).toMatchObject({ ...limit, retryAfter: 17 });
    expect(await thrown({})).toMatchObject({ ...limit, retryAfter: null });
    const date = 'Tue, 24 Nov 2026 05:00:00 GMT';
    expect(await thrown({ 'retry-after': date })).toMatchObject({ ...limit, retryAfter: null });
  });

  test('follows no redirect with a token, and counts it as no answer', async () => {
    const elsewhere = await serveAnswers(() => ({ body: {} }));
    const service = await serveAnswers(() => ({
      status: 307,
      headers: { location: elsewhere.url },
      body: {},
    }));
    const client = createClient({ url: service.url, retryMs: 1 });
    const post = client.post('a token', { kind: 'idle', text: 'x' });
    await expect(post).rejects.toBeInstanceOf(NoAnswerError);
    expect(service.asked).toHaveLength(1);
    expect(elsewhere.asked).toEqual([]);
    await Promise.all([service.close(), elsewhere.close()]);
  });

  test.each([500, 502, 504, 524])(
    'a proxy’s %i for a post is not taken for a refusal: the outcome is unknown, and nothing is sent again',
    async (status) => {
      const service = await serveAnswers(() => ({
        status,
        body: { error: 'the service does not answer now' },
      }));
      const client = createClient({ url: service.url });
      await expect(client.post('a token', { kind: 'idle', text: 'x' })).rejects.toBeInstanceOf(NoAnswerError);
      expect(service.asked).toHaveLength(1);
      await service.close();
    },
  );

  test.each([null, 7, 'text', false])('a body of %s counts as no answer', async (body) => {
    const service = await serveAnswers(() => ({ body }));
    const client = createClient({ url: service.url, retryMs: 1 });
    await expect(client.posts(mint)).rejects.toBeInstanceOf(NoAnswerError);
    await expect(client.challenge({ mint, agent: mint })).rejects.toBeInstanceOf(NoAnswerError);
    await service.close();
  });

  test('a list of positions that is not an array counts as no answer', async () => {
    const net = lossyNetwork();
    const agent = agentOver(net, {
      fetch: async (url: string | URL | Request, init?: RequestInit) =>
        String(url).includes('/options/positions')
          ? Response.json({ items: { length: 1 } })
          : net.fetch(url, init),
    });
    await expect(agent.positions()).rejects.toBeInstanceOf(NoAnswerError);
  });

  test('a release that is answered without a position is returned as it is, without an error', async () => {
    const net = lossyNetwork();
    const agent = agentOver(net, {
      fetch: async (url: string | URL | Request, init?: RequestInit) =>
        String(url).endsWith('/options/close') ? Response.json({}) : net.fetch(url, init),
    });
    expect(await agent.close({ positionId: '1', reason: 'over' })).toEqual({});
  });

  test('an answer that never ends is given up within 128 MB', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, ' ');
    let sent = 0;
    const endless = function* () {
      for (; ; sent += 1) yield megabyte;
    };
    const service = http.createServer((_, response) => void Readable.from(endless()).pipe(response));
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const client = createClient({ url, timeoutMs: 3_600_000 });
    await expect(client.post('a token', { kind: 'idle', text: 'x' })).rejects.toBeInstanceOf(NoAnswerError);
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    // What the client takes, and what is in buffers between the two.
    expect(sent).toBeLessThan(64 + 64);
  });

  test('the client’s public read functions, except health and the histories, are answered by their routes', async () => {
    const client = createClient({ url: api.url });
    expect((await client.coin(mint)).mint).toBe(mint);
    expect((await client.positions(mint)).positions).toEqual([]);
    expect((await client.activity(mint, { limit: 3 })).limit).toBe(3);
    expect((await client.rankings({ sort: 'newest', limit: 1 })).items).toHaveLength(1);
    expect((await client.quotes('x')).items).toEqual([]);
    expect((await client.currencies('options_x')).venue).toBe('options_x');
    expect(Object.keys((await client.openapi()).paths as object)).toContain('/api/agent/options/open');
    await Promise.all([
      ...[client.status(), client.origins(), client.models(), client.analytics()],
      ...[client.fees(mint), client.loop(mint), client.holders(mint), client.posts(mint)],
    ]);
  });
});
