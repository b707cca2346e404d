import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAgentParts } from '../../../api/agent/create-agent-parts.ts';
import { agentRoutes } from '../../../api/agent/routes.ts';
import { createApp } from '../../../api/app.ts';
import { type Agent, createAgent } from '../../../api/client/agent.ts';
import { type Listening, listen } from '../../../api/http/listen.ts';
import { createLatest } from '../../../api/latest/latest.ts';
import type { Db } from '../../../api/postgres/port.ts';
import { agentKeypair } from '../../../devnet/life/agent-keys.ts';
import { AGENT } from '../../../devnet/program/state/state.ts';
import { type RpcServer, serveRpc } from '../../../devnet/rpc/server.ts';
import { serveVenues, type VenuesServer } from '../../../devnet/venues/server.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { openStage, type Stage } from '../../devnet/stage.ts';
import { SETTINGS } from '../support/api.ts';
import { freshEmbedded } from './support/postgres.ts';
import { type StaleNode, startStaleNode } from './support/stale-node.ts';

const CALL = 'XRP-20280630-0_5-C';

const publicUrl = 'http://agents.test';

describe('an agent on the local chain', () => {
  let stage: Stage;
  let node: RpcServer;
  let venues: VenuesServer;
  let db: Db;
  let api: Listening;
  let staleNode: StaleNode;
  let behindStale: Listening;
  /** An API with a short timeout for its node, for tests in which that hangs. */
  let impatient: Listening;
  let mint: string;
  const agents: Agent[] = [];

  beforeAll(async () => {
    stage = await openStage();
    mint = stage.terms.mint;
    await stage.init({ mode: AGENT, agent: agentKeypair('t', mint, 0).key });
    [node, venues, db] = await Promise.all([
      serveRpc({ ledger: stage.chain, port: 0 }),
      serveVenues({ chain: stage.chain, port: 0 }),
      freshEmbedded(),
    ]);
    staleNode = await startStaleNode(node.url);
    [api, behindStale, impatient] = await Promise.all([
      serveOver(node.url),
      serveOver(staleNode.url),
      serveOver(node.url, 3_000),
    ]);
    for (const generation of [0, 1]) agents.push(agentAt(api, generation));
  });
  afterAll(async () => {
    await Promise.all([api.close(), behindStale.close(), impatient.close(), staleNode.close()]);
    await Promise.all([node.close(), venues.close(), db.close()]);
  });
  // Also after a failed test, so that the next one does not fail for it.
  afterEach(() => {
    node.faults.down(null);
    node.faults.lag(0);
    staleNode.goOn();
  });

  /** An API over the one database that reads the chain through this node; by default no answer is too slow. */
  function serveOver(rpcUrl: string, nodeMs = 20_000): Promise<Listening> {
    const rpc = createRpc(rpcUrl, { commitment: 'confirmed', timeoutMs: nodeMs });
    const parts = createAgentParts({
      ...{ db, publicUrl, serviceName: 'svc', optionsVenueId: 'options_x' },
      ...{ policyRpc: rpc, rpc, commitment: 'confirmed' },
      programId: stage.chain.programId,
      storedSlot: async () => 0n,
      agentChanged: async () => null,
      place: async () => null,
      venue: { url: venues.remote.options, timeoutMs: 20_000, waitMs: 60_000 },
    });
    const app = createApp({
      latest: createLatest({
        currentStore: () => {
          throw new Error('no store here');
        },
        clock: Date.now,
      }),
      settings: SETTINGS,
      clock: Date.now,
      agentRoutes: agentRoutes(parts),
    });
    return listen(app, '127.0.0.1', 0);
  }

  const agentAt = ({ port }: Listening, generation: number) =>
    createAgent({
      ...{ url: `http://127.0.0.1:${port}`, publicUrl, mint, retryMs: 1 },
      key: agentKeypair('t', mint, generation).secretKey,
    });
  const agent = (n: number) => agents[n] as Agent;
  const post = (n: number) => agent(n).post({ kind: 'idle', text: `by ${n}` });

  test('posts under its model on chain and opens an exposure; an old contract is an unknown_instrument', async () => {
    const model = [...stage.chain.state().models.values()].find(({ id }) => id === stage.terms.modelId);
    expect((await post(0)).model).toMatchObject({ id: stage.terms.modelId, name: model?.name });
    const row = await agent(0).open({ instrument: CALL, direction: 'long', size: '10', reason: 'r' });
    expect(row).toMatchObject({ underlying: 'XRP', strike: '0.5', optionType: 'C' });
    const old = 'BTC-20250627-80000-C';
    await expect(
      agent(0).open({ instrument: old, direction: 'long', size: '1', reason: 'r' }),
    ).rejects.toMatchObject({ code: 'unknown_instrument' });
  });

  test.each(['busy', 'refuse', 'hang'] as const)('gets 503 while the node is down: %s', async (how) => {
    const asking = how === 'hang' ? agentAt(impatient, 0) : agent(0);
    const text = `while the node may be down: ${how}`;
    await asking.post({ kind: 'idle', text });
    node.faults.down(how);
    await expect(asking.post({ kind: 'idle', text: 'x' })).rejects.toMatchObject({
      status: 503,
      code: 'chain_unreachable',
    });
  });

  test('after set_agent the old key cannot post, and behind a node that lags or is stuck posts are 503', async () => {
    await post(0);
    const old = agentAt(behindStale, 0);
    await old.post({ kind: 'idle', text: 'through a node of its own' });
    staleNode.stick();
    const { authority } = stage.terms;
    const next = agentKeypair('t', mint, 1).key;
    const rotation = await stage.run({ kind: 'set_agent', mint, by: authority, agent: next });
    expect(rotation.failed).toBeNull();
    await expect(post(0)).rejects.toMatchObject({ status: 403, code: 'not_the_agent' });
    await expect(post(0)).rejects.toMatchObject({ status: 403, code: 'not_the_agent' });
    expect((await post(1)).agent).toBe(next);
    node.faults.lag(3);
    await expect(post(1)).rejects.toMatchObject({ status: 503, code: 'chain_unreachable' });
    node.faults.lag(0);
    expect((await post(1)).agent).toBe(next);
    const unreachable = { status: 503, code: 'chain_unreachable' };
    await expect(old.post({ kind: 'idle', text: 'by a live session' })).rejects.toMatchObject(unreachable);
    const anew = agentAt(behindStale, 0);
    await expect(anew.post({ kind: 'idle', text: 'by a new one' })).rejects.toMatchObject(unreachable);
    staleNode.goOn();
    await expect(old.post({ kind: 'idle', text: 'x' })).rejects.toMatchObject({ code: 'not_the_agent' });
  });
});
