import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRequestBudget } from '../../../api/agent/limits/request-budget.ts';
import type { Db } from '../../../api/postgres/port.ts';
import { awaited } from '../../support/awaited.ts';
import { startAgentApi } from './support/agent-api.ts';
import { OPEN, POST, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

/** How many requests to node and venue one agent, or a stranger, can cause, and how long a page of positions gets. */
describe('the cost of an agent’s requests', () => {
  const stage = useAgentStage('PGlite');
  const { refused, post, open, loggedIn, renew } = refusalsOf(stage);
  const readings = async (work: () => Promise<unknown>) => {
    stage.rpc.asked = [];
    await work();
    return stage.rpc.asked.length;
  };

  test('an accepted post costs two readings of the chain, a post beyond the limit one', async () => {
    const { mint, token } = await loggedIn();
    expect(await readings(() => post(token))).toBe(2);
    for (let n = 1; n < 20; n += 1) await post(token);
    await renew(mint);
    expect(await readings(() => refused(429, 'rate_limited', () => post(token)))).toBe(1);
  });

  test('refusals by a limit count as refused attempts: after 60 of them the chain is not read', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 80; n += 1) {
      await post(token);
      if (n % 20 === 19) await renew(mint);
    }
    const beyond = await readings(() => refused(429, 'rate_limited', () => post(token)));
    expect(beyond).toBe(0);
  });

  test('the origin is read from the chain once: a second list of positions costs one reading', async () => {
    const { token } = await loggedIn();
    await stage.api.call('GET', 'options/positions', undefined, token);
    const list = () => stage.api.call('GET', 'options/positions', undefined, token);
    expect(await readings(list)).toBe(1);
  });

  test('100 concurrent requests of one policy share readings of the chain: they cost fewer than 60', async () => {
    const { token } = await loggedIn();
    let lookedUp = 0;
    const db: Db = {
      ...stage.db,
      query: async (sql, params) => {
        const rows = await stage.db.query(sql, params);
        lookedUp += 1;
        return rows as never;
      },
    };
    const beside = await startAgentApi({ db, rpc: stage.rpc, venueUrl: null });
    const list = () => beside.call('GET', 'options/positions', undefined, token);
    await list();
    const before = lookedUp;
    // Holds the first reading until most requests have looked up their tokens, however slow they are.
    stage.rpc.holdNext('Policy', () => awaited(() => expect(lookedUp).toBeGreaterThan(before + 50)));
    const asked = await readings(async () => {
      const replies = await Promise.all(Array.from({ length: 100 }, list));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    });
    await beside.close();
    expect(asked).toBeLessThan(60);
  });

  test('a policy has a burst of 300 requests, 5 a second after it and 200 under way; others are unaffected', async () => {
    let now = 0;
    const budget = createRequestBudget(() => now);
    const ask = (mint: string) => budget(mint, async () => 'answered');
    for (let n = 0; n < 300; n += 1) expect(await ask('mine')).toBe('answered');
    await expect(ask('mine')).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 1 });
    expect(await ask('another')).toBe('answered');
    now += 1_000;
    for (let n = 0; n < 5; n += 1) expect(await ask('mine')).toBe('answered');
    await expect(ask('mine')).rejects.toMatchObject({ code: 'rate_limited' });
    const gate = Promise.withResolvers<string>();
    const held = Array.from({ length: 200 }, () => budget('third', () => gate.promise));
    await expect(ask('third')).rejects.toMatchObject({ code: 'busy', retryAfter: 1 });
    gate.resolve('done');
    await Promise.all(held);
    expect(await ask('third')).toBe('answered');
  });

  test('a 429 of the request budget is not counted as a refused attempt, and a later post is accepted', async () => {
    const { mint, token } = await loggedIn();
    const list = () => stage.api.call('GET', 'options/positions', undefined, token);
    // The clock stands: its budget for one moment is used up and does not refill, however long the test takes.
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => now.mockRestore());
    for (let n = 0; n < 3; n += 1) {
      const replies = await Promise.all(Array.from({ length: 100 }, list));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const { status, body } = await list();
    expect([status, body.error]).toEqual([
      429,
      '5 requests a second are the most for a policy; try again in 1 s',
    ]);
    now.mockRestore();
    const rows = await stage.db.query('SELECT 1 FROM attempts WHERE subject = $1', [`refused:${mint}`]);
    expect(rows).toEqual([]);
    await awaited(async () => expect((await post(token)).status).toBe(201));
  });

  test('readings of the chain have a budget for all; requests without a session cannot use up that of sessions', async () => {
    const { mint, agent, token } = await loggedIn();
    const small = await startAgentApi({
      ...{ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url },
      chainBudget: { perSecond: 0.01, burst: 2 },
    });
    for (let n = 0; n < 2; n += 1) expect((await small.challenge(mint, agent.address)).status).toBe(200);
    const { headers } = await refused(503, 'busy', () => small.challenge(mint, agent.address));
    expect(headers.get('retry-after')).toBe('1');
    expect((await small.call('POST', 'posts', POST, token)).status).toBe(201);
    await small.close();
  });

  test('ten simultaneous opens of one policy succeed, and another policy’s open is served in between', async () => {
    const paced = await startAgentApi({
      ...{ db: stage.db, rpc: stage.rpc, venueUrl: stage.venue.url },
      venueBudget: { perSecond: 50, burst: 1 },
    });
    const mine = await loggedIn();
    const other = await loggedIn();
    const ended: string[] = [];
    const openAs = async (who: string, token: string, instrument: string) => {
      const reply = await paced.call('POST', 'options/open', { ...OPEN, instrument }, token);
      ended.push(who);
      return reply.status;
    };
    const burst = Array.from({ length: 10 }, (_, n) => openAs('burst', mine.token, `ETH-${n}`));
    const single = openAs('other', other.token, 'ETH-1');
    expect(await Promise.all([...burst, single])).toEqual(Array(11).fill(201));
    expect(ended.indexOf('other')).toBeLessThan(6);
    await paced.close();
  });

  test('a page of positions has at most 200 rows, also with limit=1000 and rows of maximum length', async () => {
    const { mint, token } = await loggedIn();
    const { positionId } = (await open(token)).body;
    await stage.api.call('POST', 'options/close', { positionId, reason: 'a reason' }, token);
    const columns = `mint, agent, instrument, underlying, option_type, strike, expiry, direction, status, opened_at,
      open_quote, released_at, release_quote`;
    await stage.db.query(
      `INSERT INTO exposures (${columns}, size, reason, release_reason)
       SELECT ${columns}, $2, $3, $3 FROM exposures, generate_series(1, 449) WHERE mint = $1`,
      [mint, '1'.padStart(1000, '0'), '\u0001'.repeat(1000)],
    );
    const pages: number[] = [];
    const ids = new Set<unknown>();
    let next: string | undefined = '?status=released&limit=1000';
    while (next !== undefined) {
      const { body, headers, text } = await stage.api.call(
        'GET',
        `options/positions${next}`,
        undefined,
        token,
      );
      expect(text.length).toBeLessThan(5e6);
      const items = body.items as { positionId: string }[];
      pages.push(items.length);
      for (const item of items) ids.add(item.positionId);
      next = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(pages).toEqual([200, 200, 50]);
    expect(ids.size).toBe(450);
  });

  test('pages of positions reach the oldest row even beyond offset 100,000', async () => {
    const { token } = await loggedIn();
    await open(token);
    /** As if the row existed so many times. */
    const COUNT = 100_201;
    const query: Db['query'] = async (sql, params = []) => {
      if (!sql.includes('FROM exposures AS page')) return stage.db.query(sql, params);
      const [limit = 0, offset = 0] = params.slice(3).map(Number);
      const [row] = await stage.db.query<object>(sql, [...params.slice(0, 3), '1', '0']);
      const length = Math.max(Math.min(limit, COUNT - offset), 0);
      return Array.from({ length }, (_, at) => ({ ...row, id: String(COUNT - offset - at) })) as never;
    };
    const many = await startAgentApi({ db: { ...stage.db, query }, rpc: stage.rpc, venueUrl: null });
    const pages: unknown[] = [];
    let next: string | undefined = '?status=all&offset=99999';
    for (let asked = 0; asked < 3 && next !== undefined; asked += 1) {
      const { body, headers } = await many.call('GET', `options/positions${next}`, undefined, token);
      pages.push((body.items as { positionId: string }[]).map(({ positionId }) => Number(positionId)));
      next = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
    }
    await many.close();
    expect(pages).toEqual([Array.from({ length: 200 }, (_, at) => 202 - at), [2, 1]]);
    expect(next).toBeUndefined();
  });

  test('positions are paged, newest first, without a former agent’s, which its successor can still release', async () => {
    const { mint, token } = await loggedIn();
    for (let n = 0; n < 3; n += 1) expect((await open(token, { instrument: `ETH-${n}` })).status).toBe(201);
    const pageAt = async (bearer: string, query: string) => {
      const { body, headers } = await stage.api.call('GET', `options/positions${query}`, undefined, bearer);
      const rows = (body.items as { instrument: string }[]).map(({ instrument }) => instrument);
      return { rows, next: /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] };
    };
    const page = async (bearer: string, query: string) => (await pageAt(bearer, query)).rows;
    const first = await pageAt(token, '?limit=2');
    expect(first.rows).toEqual(['ETH-2', 'ETH-1']);
    expect(await pageAt(token, String(first.next))).toEqual({ rows: ['ETH-0'], next: undefined });
    expect(await page(token, '?limit=2&offset=2')).toEqual(['ETH-0']);
    expect(await page(token, '?limit=0&offset=x')).toEqual(['ETH-2']);
    expect(await page(token, '?offset=99999999999999999999')).toEqual([]);
    expect((await pageAt(token, '?limit=3')).next).toBeUndefined();
    const { agent } = await loggedIn();
    stage.rpc.slot += 1;
    stage.rpc.policy({ mint, agent: agent.address });
    const successor = await stage.api.login(mint, agent);
    expect(await page(successor, '?status=all')).toEqual([]);
    // A former agent's exposure is in no list any more and still counts: the refusal names it.
    const { error } = (await open(successor, { instrument: 'ETH-1' })).body;
    const positionId = /: position (\d+)$/.exec(String(error))?.[1];
    const release = { positionId, reason: 'of the former agent' };
    expect((await stage.api.call('POST', 'options/close', release, successor)).status).toBe(200);
    expect((await open(successor, { instrument: 'ETH-1' })).status).toBe(201);
  });
});
