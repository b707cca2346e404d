import { expect, onTestFinished, test } from 'vitest';
import { openAgentSide } from '../../../api/agent/side.ts';
import { createApp } from '../../../api/app.ts';
import { listen } from '../../../api/http/listen.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import type { Params, Store } from '../../../clickhouse/client.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { freshPostgresUrl } from '../../support/servers-of-run.ts';
import { SETTINGS } from '../support/api.ts';
import { apiAt } from './support/api-at.ts';
import { startFakeRpc } from './support/fake-rpc.ts';
import { testKey } from './support/keys.ts';

/** Slot at which the index has the policies, and the one that it has applied last. */
const [STORED, APPLIED] = [900, 950];

/** An index that tells where it has come to, or that does not. */
const storeAt = (applied: number | null) =>
  ({
    aside: () => ({
      query: async (sql: string, { addresses = [] }: Params = {}) =>
        sql.includes('FROM policies')
          ? (addresses as string[]).map((address) => ({ address, slot: String(STORED) }))
          : sql.includes('FROM applied FINAL') && applied !== null
            ? [{ slot: String(applied), time: String(Math.floor(Date.now() / 1000)) }]
            : [],
    }),
  }) as unknown as Store;

test.each([
  ['confirmed', null, 1_000],
  ['finalized', null, STORED],
  ['finalized', APPLIED, APPLIED],
] as const)(
  'at %s a write reads the policy at confirmed, its model and origin at that commitment (index at %s)',
  async (commitment, applied, least) => {
    const store = storeAt(applied);
    const rpc = await startFakeRpc();
    const side = await openAgentSide({
      config: readConfig({
        ...{ POSTGRES_URL: await freshPostgresUrl(), COMMITMENT: commitment },
        PROGRAM_ID: SETTINGS.programId,
      }),
      ...{ publicUrl: 'http://api.example', rpcUrls: [rpc.url], currentStore: () => store, migrates: true },
      logger: createLogger('silent', 'test'),
    });
    await side.ready;
    const latest = createLatest({ currentStore: () => store, clock: Date.now });
    const app = createApp({ latest, settings: SETTINGS, clock: Date.now, agentRoutes: side.routes });
    const { port, close } = await listen(app, '127.0.0.1', 0);
    onTestFinished(async () => {
      await close();
      await Promise.all([side.close(), rpc.close()]);
    });
    const api = apiAt(`http://127.0.0.1:${port}`);
    const [mint, agent] = [testKey(`mint ${commitment} ${applied}`).address, testKey(`agent ${commitment}`)];
    rpc.policy({ mint, agent: agent.address });
    const token = await api.login(mint, agent);
    expect(new Set(rpc.commitments)).toEqual(new Set(['Policy confirmed']));

    const post = await api.call('POST', 'posts', { kind: 'thesis', text: 'up' }, token);
    expect(post.status, post.text).toBe(201);
    expect(post.body.model).toMatchObject({ name: 'model one' });
    const order = { instrument: 'XRP-20280630-0_5-C', direction: 'long', size: '1', reason: 'r' };
    const opened = await api.call('POST', 'options/open', order, token);
    expect(opened.body).toMatchObject({ code: 'venue_unreachable' });

    const others = rpc.commitments.flatMap((told, at) =>
      told.startsWith('Policy') ? [] : [[told, rpc.asked[at]]],
    );
    expect(others).toEqual([
      [`Model ${commitment}`, least],
      [`Origin ${commitment}`, least],
    ]);
    expect(rpc.commitments).not.toContain('Policy finalized');
  },
);
