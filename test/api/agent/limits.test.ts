import { describe, expect, test } from 'vitest';
import { rowCounts } from './support/agent-api.ts';
import { ENGINES } from './support/postgres.ts';
import { useAgentStage } from './support/stage.ts';

const POST = { kind: 'idle', text: 'waiting' };

describe.each(ENGINES)('limits over %s', (engine) => {
  const stage = useAgentStage(engine);

  async function loggedIn() {
    const { mint, agent } = stage.policy();
    return { mint, agent, token: await stage.api.login(mint, agent) };
  }
  const post = (token: string) => stage.api.call('POST', 'posts', POST, token);
  const open = (token: string, instrument: string) =>
    stage.api.call('POST', 'options/open', { instrument, direction: 'long', size: '1', reason: 'r' }, token);
  /** Lets everything of a policy be older by so many seconds. */
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

  test('20 posts a minute fit; the next is 429 with the seconds to wait, and fits after them', async () => {
    const { mint, token } = await loggedIn();
    const other = await loggedIn();
    for (let n = 0; n < 20; n += 1) expect((await post(token)).status).toBe(201);
    const before = await rowCounts(stage.db);
    const refused = await post(token);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(30);
    expect(wait).toBeLessThanOrEqual(60);
    expect(await rowCounts(stage.db)).toEqual(before);
    expect((await post(other.token)).status).toBe(201);
    await age(mint, wait);
    expect((await post(token)).status).toBe(201);
  });

  test('opens and releases together are 10 a minute, refused ones not counted', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 5; n += 1) {
      const { body, status, text } = await open(token, `ETH-${n}`);
      expect(status, text).toBe(201);
      expect((await open(token, `ETH-${n}`)).status).toBe(409);
      const request = { positionId: body.positionId, reason: 'x' };
      expect((await stage.api.call('POST', 'options/close', request, token)).status).toBe(200);
    }
    const refused = await open(token, 'ETH-6');
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await age(mint, 61);
    const held = await open(token, 'ETH-6');
    expect(held.status).toBe(201);
    for (let n = 7; n < 16; n += 1) expect((await open(token, `ETH-${n}`)).status).toBe(201);
    const release = { positionId: held.body.positionId, reason: 'x' };
    const close = await stage.api.call('POST', 'options/close', release, token);
    expect([close.status, close.body.code]).toEqual([429, 'rate_limited']);
    // What is held already is told before any limit, so that a retry learns of its own row.
    expect((await open(token, 'ETH-7')).status).toBe(409);
  });

  test('20 exposures may be held; the next is 429 too_many_exposures', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 20; n += 1) {
      if (n % 10 === 0) await age(mint, 61);
      expect((await open(token, `ETH-${n}`)).status).toBe(201);
    }
    await age(mint, 61);
    const before = await rowCounts(stage.db);
    const refused = await open(token, 'ETH-20');
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_exposures']);
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(await rowCounts(stage.db)).toEqual(before);
  });

  test('60 refused attempts of a policy a minute; strangers are not counted against it', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 70; n += 1) await stage.api.call('POST', 'posts', {}, 'A'.repeat(43));
    for (let n = 0; n < 60; n += 1)
      expect((await stage.api.call('POST', 'posts', {}, token)).status).toBe(400);
    const refused = await stage.api.call('POST', 'posts', {}, token);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await age(mint, 61);
    expect((await post(token)).status).toBe(201);
  });

  test('60 attempts a minute of an address that do not authenticate; one that does still passes', async () => {
    const { token } = await loggedIn();
    const from = '192.0.2.1';
    const attempt = (address: string) => stage.api.call('POST', 'posts', POST, 'B'.repeat(43), address);
    for (let n = 0; n < 60; n += 1) expect((await attempt(from)).status).toBe(401);
    const refused = await attempt(from);
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect((await attempt(from)).headers.has('retry-after')).toBe(true);
    expect((await attempt('192.0.2.2')).status).toBe(401);
    expect((await stage.api.call('POST', 'posts', POST, token, from)).status).toBe(201);
  });

  test('30 challenges a minute of an address, IPv6 by its /64', async () => {
    const { mint, agent } = stage.policy();
    for (let n = 0; n < 30; n += 1) {
      const reply = await stage.api.challenge(mint, agent.address, `2001:db8:0:1::${n.toString(16)}`);
      expect(reply.status).toBe(200);
    }
    const refused = await stage.api.challenge(mint, agent.address, '2001:db8:0:1:ffff::1');
    expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
    expect((await stage.api.challenge(mint, agent.address, '2001:db8:0:2::1')).status).toBe(200);
  });
});
