import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readPosts } from '../../../../api/agent/posts/feed.ts';
import { type Agent, createAgent } from '../../../../api/client/agent.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import type { Store } from '../../../../clickhouse/client.ts';
import { freshDatabase } from '../../../support/database.ts';
import { key, policyRow } from '../../support/rows.ts';
import { type AgentApi, PUBLIC_URL, startAgentApi } from '../support/agent-api.ts';
import { type FakeRpc, startFakeRpc } from '../support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from '../support/fake-venue.ts';
import { type TestKey, testKey } from '../support/keys.ts';
import { type LossyNetwork, lossyNetwork } from '../support/lossy-network.ts';
import { freshEmbedded } from '../support/postgres.ts';

const POST = { kind: 'thesis', text: 'said once' } as const;
const OPEN = { instrument: CALL, direction: 'long', size: '1', reason: 'a reason' } as const;

const refusal = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ error: `refused with ${status}` }, { status, headers });

describe('a client whose answer was lost', () => {
  let db: Db;
  let store: Store;
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let api: AgentApi;
  let mint: string;
  let agentKey: TestKey;
  let net: LossyNetwork;
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
    mint = key(`lost ${named}`);
    agentKey = testKey(`lost agent ${named}`);
    rpc.policy({ mint, agent: agentKey.address });
    await store.insert('policies', [
      policyRow(`lost ${named}`, 'quote', { agent: agentKey.address, mode: 'Agent' }),
    ]);
    api.written();
    net = lossyNetwork();
  });

  const anAgent = () =>
    createAgent({
      ...{ url: api.url, publicUrl: PUBLIC_URL, mint, key: agentKey.secretKey },
      ...{ fetch: net.fetch, retryMs: 1 },
    });
  const writes = (route: string) =>
    net.sent.filter(({ method, path }) => method === 'POST' && path.endsWith(route)).length;

  describe('and that may not look for what was stored', () => {
    test.each([404, 429, 503])('finds its post by looking again after two refusals (%i)', async (status) => {
      net.lose = { path: '/posts', when: 'answer' };
      net.instead = { path: '/posts', answers: [refusal(status, { 'retry-after': '0' }), refusal(status)] };
      const post = await anAgent().post(POST);
      expect(await readPosts(db, mint, 10, 0)).toMatchObject({ total: 1, posts: [post] });
      expect(net.instead.answers).toEqual([]);
      expect(writes('/posts')).toBe(1);
    });

    test.each([
      ['for long', refusal(429, { 'retry-after': '3600' }), { status: 429, retryAfter: 3600 }],
      ['at all', refusal(403), { status: 403 }],
      ['and reads nothing', Response.json({ posts: [null] }), { message: 'the service answered no list' }],
    ])('%s: reports the outcome as unknown, and sends nothing again', async (_, answer, cause) => {
      net.lose = { path: '/posts', when: 'answer' };
      net.instead = { path: '/posts', answers: [answer] };
      await expect(anAgent().post(POST)).rejects.toMatchObject({
        name: 'NoAnswerError',
        message: expect.stringMatching(/^POST \/api\/agent\/posts: no answer; it may be stored, and looking/),
        cause,
      });
      expect(writes('/posts')).toBe(1);
    });

    test('reports the outcome as unknown after many look-ups that are 503, and sends nothing again', async () => {
      net.lose = { path: '/posts', when: 'answer' };
      net.instead = { path: '/posts', answers: Array.from({ length: 100 }, () => refusal(503)) };
      await expect(anAgent().post(POST)).rejects.toMatchObject({
        ...{ name: 'NoAnswerError', cause: { status: 503 } },
      });
      expect(writes('/posts')).toBe(1);
    });

    test('sends neither an open nor a release again, and finds the release by a second look-up', async () => {
      const agent = anAgent();
      net.lose = { path: '/open', when: 'answer' };
      net.instead = { path: '/positions', answers: [refusal(403)] };
      await expect(agent.open(OPEN)).rejects.toMatchObject({ name: 'NoAnswerError', cause: { status: 403 } });
      expect(writes('/open')).toBe(1);
      const [{ positionId = '' } = {}] = await agent.positions();
      net.lose = { path: '/close', when: 'answer' };
      net.instead = { path: '/positions', answers: [refusal(503)] };
      const { position } = await agent.close({ positionId, reason: 'over' });
      expect(position).toMatchObject({ positionId, status: 'released', releaseReason: 'over' });
      expect(writes('/close')).toBe(1);
    });
  });

  test('signs in again without looking for a post if only the sign-in’s answer was lost', async () => {
    net.lose = { path: '/session', when: 'answer' };
    net.instead = { path: '/posts', answers: [refusal(403)] };
    const post = await anAgent().post(POST);
    expect(await readPosts(db, mint, 10, 0)).toMatchObject({ total: 1, posts: [post] });
    expect(net.instead.answers).toHaveLength(1);
  });

  describe.each(['the same client', 'another process'])('takes no older row for its write: %s', (who) => {
    /** Another process remembers nothing of the first one's writes; the rows that it finds are made older here. */
    const again = async (agent: Agent) => {
      if (who === 'the same client') return agent;
      await db.query(
        `UPDATE exposures SET opened_at = opened_at - interval '1 minute',
           released_at = released_at - interval '1 minute' WHERE mint = $1`,
        [mint],
      );
      return anAgent();
    };

    test('a lost open of a contract that is already held is 409 already_held', async () => {
      const agent = anAgent();
      const row = await agent.open(OPEN);
      const other = await again(agent);
      net.lose = { path: '/open', when: 'request' };
      await expect(other.open(OPEN)).rejects.toMatchObject({ status: 409, code: 'already_held' });
      expect((await agent.positions()).map(({ positionId }) => positionId)).toEqual([row.positionId]);
    });

    test('a lost release of a position that is already released is 409 already_released', async () => {
      const agent = anAgent();
      const { positionId } = await agent.open(OPEN);
      await agent.close({ positionId, reason: 'over' });
      const other = await again(agent);
      net.lose = { path: '/close', when: 'request' };
      await expect(other.close({ positionId, reason: 'over' })).rejects.toMatchObject({
        ...{ status: 409, code: 'already_released' },
      });
    });
  });

  test('finds its release behind more rows than a page holds, and lists all rows', async () => {
    const agent = anAgent();
    const { positionId } = await agent.open(OPEN);
    await db.query(
      `INSERT INTO exposures (mint, agent, instrument, underlying, option_type, strike, expiry, direction, size,
         reason, status, opened_at, open_quote, released_at, release_reason, release_quote)
       SELECT mint, agent, instrument, underlying, option_type, strike, expiry, direction, size,
         reason, 'released', opened_at - interval '2 days', open_quote, opened_at - interval '1 day', 'over', open_quote
       FROM exposures, generate_series(1, 201) WHERE mint = $1`,
      [mint],
    );
    net.lose = { path: '/close', when: 'answer' };
    const { position } = await agent.close({ positionId, reason: 'over' });
    expect(position).toMatchObject({ positionId, status: 'released', releaseReason: 'over' });
    expect(writes('/close')).toBe(1);
    for (const status of ['all', 'released'] as const) {
      const rows = await agent.positions(status);
      expect(new Set(rows.map((row) => row.positionId)).size).toBe(202);
      expect(rows.at(-1)).toEqual(position);
    }
    expect(await agent.positions()).toEqual([]);
  });
});
