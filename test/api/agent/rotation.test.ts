import { describe, expect, test } from 'vitest';
import { sweep } from '../../../api/agent/limits/sweep.ts';
import { rowCounts, startAgentApi } from './support/agent-api.ts';
import { testKey } from './support/keys.ts';
import { ENGINES } from './support/postgres.ts';
import { OPEN } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

const POST = { kind: 'idle', text: 'waiting' };
/** A slot that no chain has reached yet. */
const FAR = 900_000_000_000;
const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

describe.each(ENGINES)('rotation of the agent’s key, over %s', (engine) => {
  const stage = useAgentStage(engine);
  const next = testKey('the next agent');

  async function rotated() {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(201);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    return { mint, agent, token };
  }

  test('the old key’s next post is 403 and its session stays ended, even if the old key becomes the agent again', async () => {
    const { mint, agent, token } = await rotated();
    const { posts } = await rowCounts(stage.db);
    const first = await stage.api.call('POST', 'posts', POST, token);
    expect([first.status, first.body.code]).toEqual([403, 'not_the_agent']);
    const second = await stage.api.call('POST', 'posts', POST, token);
    expect([second.status, second.body.code]).toEqual([401, 'invalid_session']);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: agent.address });
    expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(401);
    expect((await rowCounts(stage.db)).posts).toBe(posts);
  });

  test('the old key’s first use of a session is 403 and later ones 401, even if it was refused a challenge before', async () => {
    const { mint, agent } = stage.policy();
    const [token, other] = [await stage.api.login(mint, agent), await stage.api.login(mint, agent)];
    const { nonce, message } = (await stage.api.challenge(mint, agent.address)).body;
    const signed = {
      mint,
      agent: agent.address,
      nonce,
      signature: agent.sign(String(message)).toString('base64'),
    };
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    expect((await stage.api.challenge(mint, agent.address)).body.code).toBe('not_the_agent');
    expect((await stage.api.call('POST', 'session', signed)).body.code).toBe('not_the_agent');
    const first = await stage.api.call('POST', 'posts', POST, token);
    expect([first.status, first.body.code]).toEqual([403, 'not_the_agent']);
    for (const one of [token, other])
      expect((await stage.api.call('POST', 'posts', POST, one)).body.code).toBe('invalid_session');
  });

  test('the first 403 to an old key ends its sessions, not the new key’s, and is not counted against the policy', async () => {
    const { mint, agent } = stage.policy();
    const tokens = [await stage.api.login(mint, agent), await stage.api.login(mint, agent)] as const;
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    expect((await stage.api.call('POST', 'posts', POST, tokens[0])).body.code).toBe('not_the_agent');
    const fresh = await stage.api.login(mint, next);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: agent.address });
    expect((await stage.api.call('POST', 'posts', POST, tokens[1])).status).toBe(401);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    expect((await stage.api.call('POST', 'posts', POST, fresh)).status).toBe(201);
    const counted = await stage.db.query('SELECT 1 FROM attempts WHERE subject = $1', [`refused:${mint}`]);
    expect(counted).toEqual([]);
  });

  test('a key rotated out and back between requests loses its earlier sessions once the index has the change', async () => {
    const { mint, agent } = stage.policy();
    const before = [await stage.api.login(mint, agent), await stage.api.login(mint, agent)] as const;
    stage.rpc.slot += 10;
    expect((await stage.api.call('POST', 'posts', POST, before[0])).status).toBe(201);
    stage.api.agentChanges.set(mint, 1000n);
    expect((await stage.api.call('POST', 'posts', POST, before[0])).status).toBe(201);
    const between = await stage.api.login(mint, agent);
    const { posts } = await rowCounts(stage.db);
    stage.api.agentChanges.set(mint, 1010n);
    const told = await stage.api.call('POST', 'posts', POST, before[0]);
    expect([told.status, told.body.code]).toEqual([403, 'not_the_agent']);
    expect((await stage.api.call('POST', 'posts', POST, before[0])).status).toBe(401);
    expect((await stage.api.call('POST', 'posts', POST, before[1])).status).toBe(401);
    expect((await rowCounts(stage.db)).posts).toBe(posts);
    expect((await stage.api.call('POST', 'posts', POST, between)).status).toBe(201);
    expect(await stage.db.query('SELECT 1 FROM attempts WHERE subject = $1', [`refused:${mint}`])).toEqual(
      [],
    );
  });

  test('an open is 403 if the index learns, while the venue is asked, that the key was rotated out and back', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const { exposures } = await rowCounts(stage.db);
    stage.venue.beforeTicker = async () => {
      stage.rpc.slot += 10;
      stage.api.agentChanges.set(mint, 1005n);
      await stage.api.login(mint, agent);
    };
    const reply = await stage.api.call('POST', 'options/open', OPEN, token);
    expect([reply.status, reply.body.code]).toEqual([403, 'not_the_agent']);
    expect((await rowCounts(stage.db)).exposures).toBe(exposures);
  });

  test('a challenge for the new key ends the old key’s sessions, even if the old key becomes the agent again', async () => {
    const { mint, agent, token } = await rotated();
    const another = await stage.api.login(mint, next);
    expect((await stage.api.challenge(mint, next.address)).status).toBe(200);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: agent.address });
    // The old session is refused as rotated out once, then as unknown. One started after the key's return is separate.
    const back = await stage.api.login(mint, agent);
    expect((await stage.api.call('POST', 'posts', POST, token)).body.code).toBe('not_the_agent');
    expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(401);
    expect((await stage.api.call('POST', 'posts', POST, another)).body.code).toBe('not_the_agent');
    expect((await stage.api.call('POST', 'posts', POST, back)).status).toBe(201);
  });

  test('an open whose venue quote arrives only after the rotation is 403 and stores nothing', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const { exposures } = await rowCounts(stage.db);
    stage.venue.beforeTicker = async () => {
      stage.rpc.slot += 10;
      stage.rpc.policy({ mint, agent: next.address });
      await stage.api.login(mint, next);
    };
    const reply = await stage.api.call('POST', 'options/open', OPEN, token);
    expect([reply.status, reply.body.code]).toEqual([403, 'not_the_agent']);
    expect((await rowCounts(stage.db)).exposures).toBe(exposures);
  });

  test('an open whose quote arrives after the key was rotated out and back is 401: its session has ended', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const { exposures } = await rowCounts(stage.db);
    stage.venue.beforeTicker = async () => {
      stage.rpc.slot += 10;
      stage.rpc.policy({ mint, agent: next.address });
      await stage.api.login(mint, next);
      stage.rpc.slot += 10;
      stage.rpc.policy({ mint, agent: agent.address });
    };
    const reply = await stage.api.call('POST', 'options/open', OPEN, token);
    expect([reply.status, reply.body.code]).toEqual([401, 'invalid_session']);
    expect((await rowCounts(stage.db)).exposures).toBe(exposures);
  });

  test('a write reads the chain again if another process has decided by a newer reading meanwhile', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const elsewhere = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url });
    stage.rpc.holdNext('Model', async () => {
      stage.rpc.slot += 10;
      expect((await elsewhere.call('POST', 'posts', POST, token)).status).toBe(201);
      stage.rpc.policy({ mint, agent: next.address });
    });
    const reply = await stage.api.call('POST', 'posts', POST, token);
    expect([reply.status, reply.body.code]).toEqual([403, 'not_the_agent']);
    await elsewhere.close();
  });

  test('strangers’ challenges for a policy do not make its agent’s write read the chain again', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const elsewhere = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url });
    const askBeside = async () => {
      stage.rpc.holdNext('Model', askBeside);
      stage.rpc.slot += 10;
      for (const process of [stage.api, elsewhere])
        expect((await process.challenge(mint, next.address)).body.code).toBe('not_the_agent');
    };
    stage.rpc.holdNext('Model', askBeside);
    stage.rpc.asked = [];
    expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(201);
    // The policy, two challenges, the model.
    expect(stage.rpc.asked).toHaveLength(4);
    // No later request may use an older reading than the one that answered the strangers.
    stage.rpc.holdNext('Model', async () => {});
    stage.rpc.slot -= 10;
    expect((await stage.api.call('POST', 'posts', POST, token)).body.code).toBe('chain_unreachable');
    expect((await elsewhere.call('POST', 'posts', POST, token)).body.code).toBe('chain_unreachable');
    await elsewhere.close();
  });

  test('a key refused as not the agent gets no challenge by an older reading in another process', async () => {
    const { mint, agent } = stage.policy();
    expect((await stage.api.challenge(mint, agent.address)).status).toBe(200);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    expect((await stage.api.challenge(mint, agent.address)).body.code).toBe('not_the_agent');
    stage.rpc.slot -= 10;
    stage.rpc.fault = 'stale';
    stage.rpc.policy({ mint, agent: agent.address });
    const elsewhere = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url });
    expect((await elsewhere.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
    await elsewhere.close();
  });

  test('a key gets no challenge by a reading that a newer one, which shows another agent, has overtaken', async () => {
    const { mint, agent } = stage.policy();
    expect((await stage.api.challenge(mint, agent.address)).status).toBe(200);
    stage.rpc.slot = 1005;
    stage.rpc.policy({ mint, agent: next.address });
    stage.rpc.holdNext('Policy', async () => {
      stage.rpc.slot = 1010;
      stage.rpc.policy({ mint, agent: agent.address });
      expect((await stage.api.challenge(mint, next.address)).body.code).toBe('not_the_agent');
      stage.rpc.slot = 1005;
    });
    const elsewhere = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url });
    expect((await elsewhere.challenge(mint, next.address)).body.code).toBe('chain_unreachable');
    await elsewhere.close();
  });

  test('the old key gets no new challenge, and no session for an earlier one; the new key gets both', async () => {
    const { mint, agent } = stage.policy();
    const { body } = await stage.api.challenge(mint, agent.address);
    stage.rpc.slot += 10;
    stage.rpc.policy({ mint, agent: next.address });
    expect((await stage.api.challenge(mint, agent.address)).body.code).toBe('not_the_agent');
    const signature = agent.sign(String(body.message)).toString('base64');
    const request = { mint, agent: agent.address, nonce: body.nonce, signature };
    const session = await stage.api.call('POST', 'session', request);
    expect([session.status, session.body.code]).toEqual([403, 'not_the_agent']);
    const token = await stage.api.login(mint, next);
    expect((await stage.api.call('POST', 'posts', POST, token)).body.agent).toBe(next.address);
  });

  test.each([null, 'stale'] as const)(
    'a node behind the newest deciding reading cannot bring the old key back, in any process (fault %s)',
    async (fault) => {
      const { mint, agent, token } = await rotated();
      const old = await stage.api.login(mint, next);
      expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(403);
      stage.rpc.slot -= 10;
      stage.rpc.fault = fault;
      stage.rpc.policy({ mint, agent: agent.address });
      expect((await stage.api.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
      expect((await stage.api.call('POST', 'posts', POST, old)).body.code).toBe('chain_unreachable');
      const elsewhere = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url });
      expect((await elsewhere.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
      expect((await elsewhere.call('POST', 'posts', POST, old)).body.code).toBe('chain_unreachable');
      await elsewhere.close();
    },
  );

  test('a challenge waits for a node behind the policy’s slot in the index, then is 503; no newer slot is requested', async () => {
    const { mint, agent } = stage.policy();
    stage.api.storedSlot = 1005n;
    stage.rpc.asked = [];
    expect((await stage.api.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
    expect(new Set(stage.rpc.asked)).toEqual(new Set([1005]));
    const answer = stage.api.challenge(mint, agent.address);
    stage.rpc.slot = 1005;
    expect((await answer).status).toBe(200);
    stage.rpc.slot = 2000;
    stage.rpc.asked = [];
    await stage.api.challenge(mint, agent.address);
    expect(stage.rpc.asked).toEqual([1005]);
  });

  const apiAtPlace = (slot: bigint, time: number) =>
    startAgentApi({
      ...{ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url },
      place: async () => ({ slot, time }),
    });
  const slotsOf = async (mint: string) =>
    (
      await stage.db.query<{ slot: string; shown: string }>(
        'SELECT slot::text, shown::text FROM decided_reads WHERE mint = $1',
        [mint],
      )
    )[0];

  test('a reading from a slot that the chain cannot have reached decides nothing and delays no later reading', async () => {
    const { mint, agent } = stage.policy();
    const api = await apiAtPlace(1000n, secondsAgo(1));
    stage.rpc.slot = FAR;
    expect((await api.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
    stage.rpc.slot = 1000;
    const token = await api.login(mint, agent);
    stage.rpc.slot = FAR;
    expect((await api.call('POST', 'posts', POST, token)).body.code).toBe('chain_unreachable');
    stage.rpc.slot = 1001;
    expect((await api.call('POST', 'posts', POST, token)).status).toBe(201);
    expect(await slotsOf(mint)).toEqual({ slot: '1001', shown: '1001' });
    await api.close();
  });

  test.each(['slot', 'shown'] as const)(
    'a stored slot that the chain cannot have reached is ignored, and the next deciding reading replaces it (%s)',
    async (column) => {
      const { mint, agent } = stage.policy();
      const api = await apiAtPlace(1000n, secondsAgo(1));
      const token = await api.login(mint, agent);
      const also = column === 'slot' ? `, shown = ${FAR}` : '';
      const believe = () =>
        stage.db.query(`UPDATE decided_reads SET ${column} = ${FAR}${also} WHERE mint = $1`, [mint]);
      const isGone = async () =>
        expect(Object.values((await slotsOf(mint)) ?? {}).every((slot) => Number(slot) <= 1010)).toBe(true);
      await believe();
      expect((await api.challenge(mint, agent.address)).status).toBe(200);
      await isGone();
      await believe();
      expect((await api.call('GET', 'options/positions', undefined, token)).status).toBe(200);
      expect((await api.call('POST', 'posts', POST, token)).status).toBe(201);
      await isGone();
      await believe();
      // A reading shows another agent, and the old one is out.
      stage.rpc.slot = 1010;
      stage.rpc.policy({ mint, agent: next.address });
      expect((await api.challenge(mint, next.address)).status).toBe(200);
      await isGone();
      expect((await api.call('POST', 'posts', POST, token)).body.code).toBe('not_the_agent');
      // No older reading counts after that.
      stage.rpc.slot = 1005;
      stage.rpc.policy({ mint, agent: agent.address });
      expect((await api.challenge(mint, agent.address)).body.code).toBe('chain_unreachable');
      await api.close();
    },
  );

  test('an impossible slot that was believed while nothing was applied blocks nobody once something is', async () => {
    const { mint, agent } = stage.policy();
    let place: { slot: bigint; time: number } | null = null;
    const api = await startAgentApi({
      ...{ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url },
      place: async () => place,
    });
    stage.rpc.slot = FAR;
    expect((await api.challenge(mint, agent.address)).status).toBe(200);
    stage.rpc.slot = 1000;
    place = { slot: 1000n, time: secondsAgo(1) };
    const token = await api.login(mint, agent);
    expect((await api.call('POST', 'posts', POST, token)).status).toBe(201);
    await api.close();
  });

  test('no node counts as too far ahead while the index is days behind, empty, failing or hanging', async () => {
    const { mint, agent } = stage.policy();
    const DAYS = 30;
    const behind = await apiAtPlace(1000n, secondsAgo(DAYS * 86_400));
    // A slot every 400 ms.
    stage.rpc.slot = 1000 + DAYS * 216_000;
    expect((await behind.challenge(mint, agent.address)).status).toBe(200);
    await behind.close();
    for (const place of [
      async () => null,
      async () => {
        throw new Error('the index is down');
      },
      () => new Promise<never>(() => {}),
    ]) {
      const api = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: null, place });
      expect((await api.challenge(mint, agent.address)).status).toBe(200);
      await api.close();
    }
  });

  test('sweep() deletes expired sessions, nonces and attempts, and keeps a live session', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    await sweep(stage.db);
    expect((await stage.api.call('POST', 'posts', POST, token)).status).toBe(201);
    await stage.db.query(`UPDATE sessions SET expires_at = now()`);
    await stage.db.query(`UPDATE spent_nonces SET expires_at = now() - interval '1 day'`);
    await stage.db.query(`UPDATE attempts SET at = at - interval '1 hour'`);
    await sweep(stage.db);
    const counts = await rowCounts(stage.db);
    // Of the nonces one row is left.
    expect([counts.sessions, counts.spent_nonces]).toEqual([0, 1]);
    expect(await stage.db.query('SELECT 1 FROM attempts')).toEqual([]);
  });
});
