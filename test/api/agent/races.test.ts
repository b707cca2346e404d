import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPosts } from '../../../api/agent/posts/feed.ts';
import type { Db } from '../../../api/postgres/port.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { rowCounts } from './support/agent-api.ts';
import { type ApiAt, apiAt, type Reply } from './support/api-at.ts';
import { type FakeRpc, startFakeRpc } from './support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from './support/fake-venue.ts';
import { testKey } from './support/keys.ts';
import { type KillableApi, killableApi } from './support/killable-api.ts';
import { patientPool } from './support/patient-db.ts';

/** Two processes over one real server. */
describe('concurrent requests through two API processes', () => {
  let db: Db;
  let children: KillableApi[];
  let apis: ApiAt[];
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let minted = 0;

  beforeAll(async () => {
    const postgresUrl = await freshPostgresUrl();
    db = patientPool(postgresUrl);
    [rpc, venue] = await Promise.all([startFakeRpc(), startFakeVenue()]);
    const settings = { postgresUrl, dataDir: '/none', rpcUrl: rpc.url, venueUrl: venue.url };
    children = [killableApi(settings), killableApi(settings)];
    apis = (await Promise.all(children.map((child) => child.start()))).map(apiAt);
  });
  afterAll(async () => {
    await Promise.all([...children.map((child) => child.kill()), rpc.close(), venue.close()]);
    await db.close();
  });

  const api = (n: number) => apis[n % 2] as ApiAt;
  /** A busy process may answer 503: asks it again, as a client does. */
  async function answered(ask: () => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const reply = await ask();
      if (reply.status !== 503) return reply;
    }
  }
  const many = (count: number, ask: (n: number) => Promise<Reply>) =>
    Promise.all(Array.from({ length: count }, (_, n) => answered(() => ask(n))));

  function policy() {
    minted += 1;
    const mint = testKey(`race mint ${minted}`).address;
    const agent = testKey(`race agent ${minted}`);
    rpc.policy({ mint, agent: agent.address });
    return { mint, agent };
  }

  test('200 uses of one nonce give one session', async () => {
    const { mint, agent } = policy();
    const { body } = await api(0).challenge(mint, agent.address);
    const signature = agent.sign(String(body.message)).toString('base64');
    const request = { mint, agent: agent.address, nonce: body.nonce, signature };
    const before = await rowCounts(db);
    const replies = await many(200, (n) => api(n).call('POST', 'session', request));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ body: { code } }) => code === 'invalid_challenge')).toHaveLength(199);
    const after = await rowCounts(db);
    expect(after.sessions).toBe((before.sessions as number) + 1);
    expect(after.spent_nonces).toBe((before.spent_nonces as number) + 1);
  });

  test('200 identical opens give one row; the rest are 409, or 429 once there are 60 refusals', async () => {
    const { mint, agent } = policy();
    const token = await api(0).login(mint, agent);
    const request = { instrument: CALL, direction: 'long', size: '1', reason: 'r' };
    const replies = await many(200, (n) => api(n).call('POST', 'options/open', request, token));
    const statuses = replies.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    const held = statuses.filter((status) => status === 409).length;
    expect(held).toBeGreaterThanOrEqual(60);
    expect(held + statuses.filter((status) => status === 429).length).toBe(199);
    expect((await rowCounts(db)).exposures).toBe(1);
    // Of equal requests only the first in each process asks the venue: for one contract and one quote.
    expect(venue.asked.length).toBeLessThanOrEqual(4);
  });

  test('20 concurrent releases of one position release it once; the rest are 409', async () => {
    const { mint, agent } = policy();
    const token = await api(0).login(mint, agent);
    const request = { instrument: CALL, direction: 'short', size: '1', reason: 'r' };
    const { body } = await api(0).call('POST', 'options/open', request, token);
    const release = { positionId: body.positionId, reason: 'r' };
    const replies = await many(20, (n) => api(n).call('POST', 'options/close', release, token));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test('100 concurrent posts of one policy store exactly 20, its limit; the rest are 429', async () => {
    const { mint, agent } = policy();
    const token = await api(0).login(mint, agent);
    const replies = await many(100, (n) =>
      api(n).call('POST', 'posts', { kind: 'idle', text: `post ${n}` }, token),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(80);
    const { total, posts } = await readPosts(db, mint, 100, 0);
    expect(total).toBe(20);
    const ids = posts.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort().reverse());
    const times = posts.map(({ createdAt }) => createdAt);
    expect(times).toEqual([...times].sort().reverse());
  });

  test('of 30 concurrent opens of different contracts exactly 10, the limit, succeed; the rest are 429', async () => {
    const { mint, agent } = policy();
    const token = await api(0).login(mint, agent);
    const replies = await many(30, (n) =>
      api(n).call(
        'POST',
        'options/open',
        { instrument: `ETH-${n}`, direction: 'long', size: '1', reason: 'r' },
        token,
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  test('an address gets 30 challenges a minute from both processes together', async () => {
    const { mint, agent } = policy();
    const replies = await many(60, (n) => api(n).challenge(mint, agent.address, '198.51.100.7'));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  test('a challenge and a session survive a kill and restart of the process that gave them', async () => {
    const { mint, agent } = policy();
    const token = await api(0).login(mint, agent);
    const { body } = await api(0).challenge(mint, agent.address);
    const [child] = children as [KillableApi, KillableApi];
    await child.kill();
    const later = apiAt(await child.start());
    const signature = agent.sign(String(body.message)).toString('base64');
    const request = { mint, agent: agent.address, nonce: body.nonce, signature };
    expect((await later.call('POST', 'session', request)).status).toBe(200);
    expect((await later.call('POST', 'posts', { kind: 'idle', text: 'x' }, token)).status).toBe(201);
  });
});
