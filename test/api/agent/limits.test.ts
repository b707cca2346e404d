import { describe, expect, test, vi } from 'vitest';
import { sweep } from '../../../api/agent/limits/sweep.ts';
import { freshAddress } from './support/api-at.ts';
import { ENGINES } from './support/postgres.ts';
import { BEARER_ROUTES, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

const POST = { kind: 'idle', text: 'waiting' };

describe.each(ENGINES)('limits over %s', (engine) => {
  const stage = useAgentStage(engine);

  const { refused, loggedIn, renew } = refusalsOf(stage);
  const post = (token: string) => stage.api.call('POST', 'posts', POST, token);
  const open = (token: string, instrument: string) =>
    stage.api.call('POST', 'options/open', { instrument, direction: 'long', size: '1', reason: 'r' }, token);
  /** Makes all rows of a policy older by so many seconds. */
  const age = async (mint: string, seconds: number) => {
    await stage.db.query(`UPDATE posts SET created_at = created_at - $2::text::interval WHERE mint = $1`, [
      mint,
      `${seconds} seconds`,
    ]);
    await stage.db.query(
      `UPDATE exposures SET opened_at = opened_at - $2::text::interval, released_at = released_at - $2::text::interval WHERE mint = $1`,
      [mint, `${seconds} seconds`],
    );
    await stage.db.query(
      `UPDATE attempts SET at = at - $2::text::interval WHERE subject = 'refused:' || $1`,
      [mint, `${seconds} seconds`],
    );
  };

  test('a policy may post 20 times a minute; the next post is 429, and is accepted after its Retry-After', async () => {
    const { mint, token } = await loggedIn();
    const other = await loggedIn();
    for (let n = 0; n < 20; n += 1) expect((await post(token)).status).toBe(201);
    await renew(mint);
    const { headers } = await refused(429, 'rate_limited', () => post(token));
    const wait = Number(headers.get('retry-after'));
    expect(wait).toBeGreaterThan(30);
    expect((await post(other.token)).status).toBe(201);
    await age(mint, wait);
    expect((await post(token)).status).toBe(201);
  });

  test('opens and releases together are limited to 10 a minute; refused ones do not count', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 5; n += 1) {
      const { body, status, text } = await open(token, `ETH-${n}`);
      expect(status, text).toBe(201);
      expect((await open(token, `ETH-${n}`)).status).toBe(409);
      const request = { positionId: body.positionId, reason: 'x' };
      expect((await stage.api.call('POST', 'options/close', request, token)).status).toBe(200);
    }
    const { headers } = await refused(429, 'rate_limited', () => open(token, 'ETH-6'));
    await age(mint, Number(headers.get('retry-after')));
    expect((await open(token, 'ETH-6')).status).toBe(201);
    await age(mint, 61);
    const held = await open(token, 'ETH-7');
    expect(held.status).toBe(201);
    for (let n = 8; n < 17; n += 1) expect((await open(token, `ETH-${n}`)).status).toBe(201);
    const release = { positionId: held.body.positionId, reason: 'x' };
    await refused(429, 'rate_limited', () => stage.api.call('POST', 'options/close', release, token));
    // A conflict with a held row is answered before any limit, so that a retry learns of its own row.
    expect((await open(token, 'ETH-7')).status).toBe(409);
  });

  test('rows dated 30 s ahead count towards the limits, rows dated two hours ahead do not', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 20; n += 1) expect((await post(token)).status).toBe(201);
    for (let n = 0; n < 10; n += 1) expect((await open(token, `ETH-${n}`)).status).toBe(201);
    for (let n = 0; n < 60; n += 1) await stage.api.call('POST', 'posts', {}, token);
    await age(mint, -30);
    await refused(429, 'rate_limited', () => post(token));
    await age(mint, -7_200);
    expect((await post(token)).status).toBe(201);
    expect((await open(token, 'ETH-10')).status).toBe(201);
  });

  test('failed attempts dated two hours ahead give 429 with a wait of at most a minute, until a sweep deletes them', async () => {
    const attempt = (address: string) => stage.api.call('POST', 'posts', POST, 'D'.repeat(43), address);
    const [waiting, swept] = [freshAddress(), freshAddress()];
    for (const from of [waiting, swept])
      for (let n = 0; n < 60; n += 1) expect((await attempt(from)).status).toBe(401);
    await stage.db.query(`UPDATE attempts SET at = at + interval '2 hours' WHERE subject LIKE 'failed:%'`);
    // Refused for a minute at most, which `refused` checks.
    await refused(429, 'rate_limited', () => attempt(waiting));
    await sweep(stage.db);
    expect((await attempt(swept)).status).toBe(401);
  });

  test('20 exposures may be held; the next is 429 too_many_exposures', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 20; n += 1) {
      if (n % 10 === 0) await age(mint, 61);
      expect((await open(token, `ETH-${n}`)).status).toBe(201);
    }
    await age(mint, 61);
    const { body } = await open(token, 'ETH-0');
    expect(body.code).toBe('already_held');
    const full = await refused(429, 'too_many_exposures', () => open(token, 'ETH-20'));
    const held = await stage.api.call('GET', 'options/positions', undefined, token);
    const items = held.body.items as { positionId: string }[];
    const ids = items.map(({ positionId }) => positionId).toReversed();
    expect(full.body.error).toMatch(new RegExp(`release one of ${ids.join(', ')}$`));
    const [{ positionId }] = items as [{ positionId: string }];
    await stage.api.call('POST', 'options/close', { positionId, reason: 'x' }, token);
    expect((await open(token, 'ETH-20')).status).toBe(201);
  });

  test('replies 400, 403, 404, 409, 422 and 429 to a session count as refused attempts, 503 does not', async () => {
    const { mint, agent, token } = await loggedIn();
    const counted = async () => {
      const sql = 'SELECT count(*)::int AS n FROM attempts WHERE subject = $1';
      return (await stage.db.query<{ n: number }>(sql, [`refused:${mint}`]))[0]?.n;
    };
    for (let n = 0; n < 20; n += 1) await post(token);
    await refused(429, 'rate_limited', () => post(token));
    stage.venue.fault = 'busy';
    await refused(503, 'venue_unreachable', () => open(token, 'ETH-1'));
    stage.venue.fault = null;
    stage.rpc.fault = 'busy';
    await refused(503, 'chain_unreachable', () => post(token));
    stage.rpc.fault = null;
    expect(await counted()).toBe(1);
    await refused(400, 'invalid_request', () => stage.api.call('POST', 'posts', {}, token));
    await refused(404, 'unknown_position', () =>
      stage.api.call('POST', 'options/close', { positionId: '1', reason: 'x' }, token),
    );
    await refused(422, 'unknown_instrument', () => open(token, 'DOGE-1'));
    await open(token, 'ETH-1');
    await refused(409, 'already_held', () => open(token, 'ETH-1'));
    expect(await counted()).toBe(5);
    stage.rpc.policy({ mint, agent: agent.address, originId: 1 });
    await refused(403, 'not_an_options_policy', () => open(token, 'ETH-2'));
    expect(await counted()).toBe(6);
  });

  test('after 60 refused attempts in a minute a policy’s requests are 429; strangers’ attempts do not count', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 70; n += 1) await stage.api.call('POST', 'posts', {}, 'A'.repeat(43));
    for (let n = 0; n < 60; n += 1)
      expect((await stage.api.call('POST', 'posts', {}, token)).status).toBe(400);
    // The limit comes before every other check: the chain is not asked any more.
    stage.rpc.asked = [];
    for (const [method, path, body] of BEARER_ROUTES)
      await refused(429, 'rate_limited', () => stage.api.call(method, path, body, token));
    expect(stage.rpc.asked).toEqual([]);
    await age(mint, 61);
    expect((await post(token)).status).toBe(201);
  });

  test('of 90 simultaneous invalid posts of a policy 60 are 400 and the other 30 are 429', async () => {
    const { token } = await loggedIn();
    const told = await Promise.all(
      Array.from({ length: 90 }, () => stage.api.call('POST', 'posts', {}, token)),
    );
    const times = (status: number) => told.filter((one) => one.status === status).length;
    expect([times(400), times(429)]).toEqual([60, 30]);
    await refused(429, 'rate_limited', () => post(token));
  });

  test('after 60 failed attempts in a minute an address gets 429; a valid token from it still passes', async () => {
    const { token } = await loggedIn();
    const from = '192.0.2.1';
    const attempt = (address: string) => stage.api.call('POST', 'posts', POST, 'B'.repeat(43), address);
    for (let n = 0; n < 60; n += 1) expect((await attempt(from)).status).toBe(401);
    // The second is refused without the database.
    for (let n = 0; n < 2; n += 1) await refused(429, 'rate_limited', () => attempt(from));
    expect((await attempt('192.0.2.2')).status).toBe(401);
    expect((await stage.api.call('POST', 'posts', POST, token, from)).status).toBe(201);
  });

  test('of 200 bad tokens from an address beyond its limit, those not looked up cost no query; a valid one passes', async () => {
    const { token } = await loggedIn();
    const from = '192.0.2.3';
    const attempt = (n: number) => stage.api.call('POST', 'posts', POST, `${n}`.padStart(43, 'C'), from);
    for (let n = 0; n < 61; n += 1) await attempt(n);
    const query = vi.spyOn(stage.db, 'query');
    const told = await Promise.all(Array.from({ length: 200 }, (_, n) => attempt(100 + n)));
    const lookedUp = query.mock.calls.filter(([sql]) => sql.includes('FROM sessions AS s')).length;
    const queries = query.mock.calls.length;
    query.mockRestore();
    // How many wait for a look-up depends on how fast they come: suspects.test.ts counts them.
    const tooMany = told.filter(({ body }) => String(body.error).includes('waiting to be checked')).length;
    expect(tooMany).toBeGreaterThan(0);
    expect([lookedUp, queries]).toEqual([200 - tooMany, 200 - tooMany]);
    expect(new Set(told.map(({ status, body }) => `${status} ${body.code}`))).toEqual(
      new Set(['429 rate_limited']),
    );
    for (const { headers } of told) expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect((await stage.api.call('POST', 'posts', POST, token, from)).status).toBe(201);
  });

  test('an address gets 30 challenges a minute; an IPv6 address is counted by its /64', async () => {
    const { mint, agent } = stage.policy();
    for (let n = 0; n < 30; n += 1) {
      const reply = await stage.api.challenge(mint, agent.address, `2001:db8:0:1::${n.toString(16)}`);
      expect(reply.status).toBe(200);
    }
    await refused(429, 'rate_limited', () =>
      stage.api.challenge(mint, agent.address, '2001:db8:0:1:ffff::1'),
    );
    expect((await stage.api.challenge(mint, agent.address, '2001:db8:0:2::1')).status).toBe(200);
  });

  test('challenge requests without two valid keys do not count towards the 30; those that ask the chain do', async () => {
    const { mint, agent } = stage.policy();
    const from = freshAddress();
    const ask = (body: unknown) => stage.api.call('POST', 'challenge', body, undefined, from);
    for (let n = 0; n < 31; n += 1)
      await refused(400, 'invalid_request', () => ask(n % 2 === 0 ? { mint } : { mint: 'x', agent: mint }));
    for (let n = 0; n < 14; n += 1) {
      await refused(404, 'unknown_policy', () => ask({ mint: agent.address, agent: agent.address }));
      await refused(403, 'not_the_agent', () => ask({ mint, agent: mint }));
    }
    for (let n = 0; n < 2; n += 1) expect((await ask({ mint, agent: agent.address })).status).toBe(200);
    stage.rpc.asked = [];
    await refused(429, 'rate_limited', () => ask({ mint, agent: agent.address }));
    expect(stage.rpc.asked).toEqual([]);
    await refused(400, 'invalid_request', () => ask({}));
  });

  test('bad signatures and invalid challenges count against their address; a valid signature still passes', async () => {
    const { mint, agent } = stage.policy();
    const { body } = await stage.api.challenge(mint, agent.address);
    const good = {
      ...{ mint, agent: agent.address, nonce: body.nonce },
      signature: agent.sign(String(body.message)).toString('base64'),
    };
    const from = freshAddress();
    const session = (changes: object) =>
      stage.api.call('POST', 'session', { ...good, ...changes }, undefined, from);
    for (let n = 0; n < 30; n += 1) {
      expect((await session({ signature: '' })).body.code).toBe('bad_signature');
      expect((await session({ nonce: 'x' })).body.code).toBe('invalid_challenge');
    }
    await refused(429, 'rate_limited', () => session({ signature: '' }));
    expect((await session({})).status).toBe(200);
  });

  test('the limit of 30 challenges a minute applies to 127.0.0.1 too', async () => {
    const { mint, agent } = stage.policy();
    const ask = () =>
      stage.api.call('POST', 'challenge', { mint, agent: agent.address }, undefined, '127.0.0.1');
    for (let n = 0; n < 30; n += 1) expect((await ask()).status).toBe(200);
    await refused(429, 'rate_limited', ask);
  });
});
