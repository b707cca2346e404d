import { expect } from 'vitest';
import { rowCounts } from './agent-api.ts';
import type { Reply } from './api-at.ts';
import { CALL } from './fake-venue.ts';
import type { TestKey } from './keys.ts';
import type { AgentStage } from './stage.ts';

export const OPEN = { instrument: CALL, direction: 'long', size: '0.5', reason: 'a reason' };
export const POST = { kind: 'thesis', text: 'a text' };
const CLOSE = { positionId: '0000000000000000001', reason: 'a reason' };

/** Every route that needs a session, with a request that it would take. */
export const BEARER_ROUTES: readonly [method: string, path: string, body: unknown][] = [
  ['POST', 'posts', POST],
  ['POST', 'options/open', OPEN],
  ['POST', 'options/close', CLOSE],
  ['GET', 'options/positions', undefined],
];

/** Checks that requests to one stage are refused. */
export function refusalsOf(stage: AgentStage) {
  return {
    /**
     * Checks that the reply is this refusal, in every part, and that nothing was stored.
     * @param ended how many sessions it ends
     */
    refused: async (
      status: number,
      code: string,
      request: () => Promise<Reply>,
      ended = 0,
    ): Promise<Reply> => {
      const before = await rowCounts(stage.db);
      const reply = await request();
      expect([reply.status, reply.body.code], reply.text).toEqual([status, code]);
      expect(reply.body.error).toMatch(/\S{2,}/);
      expect(reply.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
      expect(reply.headers.has('retry-after')).toBe(['rate_limited', 'busy'].includes(code));
      if (code === 'rate_limited') expect(reply.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
      expect(await rowCounts(stage.db)).toEqual({ ...before, sessions: Number(before.sessions) - ended });
      return reply;
    },
    post: (token: string | undefined, body: unknown = POST) => stage.api.call('POST', 'posts', body, token),
    open: (token: string, changes: object = {}) =>
      stage.api.call('POST', 'options/open', { ...OPEN, ...changes }, token),
    close: (token: string, body: unknown) => stage.api.call('POST', 'options/close', body, token),
    loggedIn: async (
      changes: { originId?: number } = {},
    ): Promise<{ mint: string; agent: TestKey; token: string }> => {
      const { mint, agent } = stage.policy(changes);
      return { mint, agent, token: await stage.api.login(mint, agent) };
    },
    /** Dates a policy's posts and refusals to now, so that they count as the last minute's however long they took. */
    renew: async (mint: string): Promise<void> => {
      await stage.db.query('UPDATE posts SET created_at = clock_timestamp() WHERE mint = $1', [mint]);
      await stage.db.query(`UPDATE attempts SET at = clock_timestamp() WHERE subject = 'refused:' || $1`, [
        mint,
      ]);
    },
  };
}
