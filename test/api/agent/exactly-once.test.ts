import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readPosts } from '../../../api/agent/posts/feed.ts';
import { type Agent, createAgent } from '../../../api/client/agent.ts';
import type { Db } from '../../../api/postgres/port.ts';
import { awaited } from '../../support/awaited.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { PUBLIC_URL, rowCounts } from './support/agent-api.ts';
import { type CommitProxy, type Moment, startCommitProxy } from './support/commit-proxy.ts';
import { type FakeRpc, startFakeRpc } from './support/fake-rpc.ts';
import { CALL, type FakeVenue, startFakeVenue } from './support/fake-venue.ts';
import { testKey } from './support/keys.ts';
import { type KillableApi, killableApi } from './support/killable-api.ts';
import { patientPool } from './support/patient-db.ts';

const MOMENTS: readonly Moment[] = ['before the commit', 'after the commit'];
const POST = { kind: 'thesis', text: 'said once 🦊' } as const;
const OPEN = { instrument: CALL, direction: 'long', size: '1.50', reason: 'held once' } as const;

/** Kills just before and just after the COMMIT: an uncommitted write is sent again, a committed one is found. */
describe('kill -9 between request and answer', () => {
  let server: PostgresServer;
  let rpc: FakeRpc;
  let venue: FakeVenue;
  let db: Db;
  let proxy: CommitProxy;
  let api: KillableApi;
  let agent: Agent;
  let named = 0;
  /** Base URL of the API, once one runs again. */
  let serving: Promise<string>;
  let writes: string[];

  beforeAll(async () => {
    [server, rpc, venue] = await Promise.all([startPostgres(), startFakeRpc(), startFakeVenue()]);
    const url = await server.freshUrl();
    proxy = await startCommitProxy(url);
    db = patientPool(url);
    const settings = { postgresUrl: proxy.url, dataDir: '/none', rpcUrl: rpc.url, venueUrl: venue.url };
    api = killableApi(settings);
    serving = api.start();
    await serving;
  });
  afterAll(async () => {
    await api.kill();
    await proxy.close();
    await db.close();
    await Promise.all([server.stop(), rpc.close(), venue.close()]);
  });

  beforeEach(async () => {
    named += 1;
    const mint = testKey(`once mint ${named}`).address;
    const key = testKey(`once agent ${named}`);
    rpc.policy({ mint, agent: key.address });
    writes = [];
    const toWhoeverServes = async (asked: URL, init?: RequestInit) => {
      const { pathname, search } = asked;
      const base = await serving;
      // The feed's route asks the index for the policy too, which has no part in this.
      if (pathname.endsWith('/posts') && init?.method === 'GET')
        return Response.json(await readPosts(db, mint, 100, 0));
      if (init?.method === 'POST') writes.push(pathname.replace('/api/agent/', ''));
      return fetch(`${base}${pathname}${search}`, init);
    };
    agent = createAgent({
      ...{ url: 'http://whoever.serves', publicUrl: PUBLIC_URL, mint, key: key.secretKey, retryMs: 1 },
      fetch: toWhoeverServes as typeof fetch,
    });
    await agent.positions();
    writes = [];
  });
  const kills: Record<string, () => Promise<string>> = {
    'the API': async () => {
      await api.kill();
      return api.start();
    },
    Postgres: async () => {
      const url = await serving;
      await server.crash();
      await awaited(() => db.query('SELECT 1'));
      return url;
    },
  };
  /** Kills at the COMMIT of the next write; requests meanwhile wait until everything is up again. */
  const killAtCommit = (what: string, moment: Moment) =>
    proxy.atNextCommit(moment, () => {
      const kill = kills[what] as () => Promise<string>;
      serving = kill();
    });
  /** A write that was committed is not sent again. */
  const sentAgain = (route: string, moment: Moment) =>
    moment === 'before the commit' ? [route, route] : [route];

  describe.each(['the API', 'Postgres'])('killing %s', (what) => {
    test.each(MOMENTS)('%s of a post leaves one post, sent again only if uncommitted', async (moment) => {
      const before = await rowCounts(db);
      killAtCommit(what, moment);
      const post = await agent.post(POST);
      expect(post).toMatchObject({ ...POST, agent: agent.address });
      expect(await rowCounts(db)).toEqual({ ...before, posts: Number(before.posts) + 1 });
      expect((await agent.feed()).posts).toEqual([post]);
      expect(writes).toEqual(sentAgain('posts', moment));
    });

    test.each(MOMENTS)('%s of an open leaves one row, sent again only if uncommitted', async (moment) => {
      killAtCommit(what, moment);
      const row = await agent.open(OPEN);
      expect(row).toMatchObject({ ...OPEN, status: 'held' });
      expect(await agent.positions('all')).toEqual([row]);
      expect(writes).toEqual(sentAgain('options/open', moment));
      await expect(agent.open(OPEN)).rejects.toMatchObject({ status: 409, code: 'already_held' });
    });

    test.each(MOMENTS)('%s of a release leaves one, sent again only if uncommitted', async (moment) => {
      const { positionId } = await agent.open(OPEN);
      writes = [];
      killAtCommit(what, moment);
      const { position } = await agent.close({ positionId, reason: 'over' });
      expect(position).toMatchObject({ positionId, status: 'released', releaseReason: 'over' });
      expect(await agent.positions('all')).toEqual([position]);
      expect(writes).toEqual(sentAgain('options/close', moment));
    });
  });
});
