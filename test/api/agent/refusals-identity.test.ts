import { describe, expect, test } from 'vitest';
import { challengeMessage } from '../../../api/agent/session/message.ts';
import { makeNonce, nonceKeyOf } from '../../../api/agent/session/nonce.ts';
import { SETTINGS } from '../support/api.ts';
import { PUBLIC_URL, rowCounts } from './support/agent-api.ts';
import { UNSET } from './support/fake-rpc.ts';
import { testKey } from './support/keys.ts';
import { ENGINES } from './support/postgres.ts';
import { BEARER_ROUTES, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

const STRANGER = testKey('a stranger');

describe.each(ENGINES)('write access as the chain decides it, over %s', (engine) => {
  const stage = useAgentStage(engine);
  const { refused, post, loggedIn } = refusalsOf(stage);

  /** A signed challenge, not used yet. */
  async function signed() {
    const { mint, agent } = stage.policy();
    const { body } = await stage.api.challenge(mint, agent.address);
    const signature = agent.sign(String(body.message)).toString('base64');
    return { mint, agent, request: { mint, agent: agent.address, nonce: body.nonce, signature } };
  }
  const session = (request: unknown) => stage.api.call('POST', 'session', request);

  describe.each(BEARER_ROUTES)('%s %s', (method, path, body) => {
    const ask = (token: string) => () => stage.api.call(method, path, body, token);

    test.each([
      ['another key', { agent: STRANGER.address }],
      ['no agent', { agent: UNSET }],
      ['mode Passive', { mode: 0 }],
    ])('is 403 once the policy has %s, which ends the session', async (_, changes) => {
      const { mint, agent, token } = await loggedIn();
      stage.rpc.policy({ mint, agent: agent.address, ...changes });
      await refused(403, 'not_the_agent', ask(token), 1);
      await refused(401, 'invalid_session', ask(token));
    });

    test('is 404 once there is no policy account', async () => {
      const { mint, token } = await loggedIn();
      stage.rpc.forget(mint);
      await refused(404, 'unknown_policy', ask(token));
    });

    test('is 503 while the node is down, or while the index fails or hangs', async () => {
      const { token } = await loggedIn();
      stage.rpc.fault = 'busy';
      await refused(503, 'chain_unreachable', ask(token));
      stage.rpc.fault = null;
      for (const how of ['down', 'hang'] as const) {
        stage.api.index = how;
        await refused(503, 'chain_unreachable', ask(token));
      }
    });

    test('is 401 for a header that names no bearer token', async () => {
      const { token } = await loggedIn();
      for (const header of ['', 'Bearer', `Basic ${token}`, token, `Bearer ${token} ${token}`])
        await refused(401, 'invalid_session', () =>
          stage.api.call(method, path, body, undefined, undefined, { authorization: header }),
        );
    });
  });

  test('a session writes only for its own policy, even if its key is the agent of another too', async () => {
    const mine = await loggedIn();
    const other = await loggedIn();
    stage.rpc.policy({ mint: other.mint, agent: mine.agent.address });
    expect((await post(mine.token)).body.mint).toBe(mine.mint);
    await refused(403, 'not_the_agent', () => post(other.token), 1);
  });

  test.each([
    ['another key', { agent: STRANGER.address }],
    ['no agent', { agent: UNSET }],
    ['mode Passive', { mode: 0 }],
  ])('a signed challenge gives no session once the policy has %s', async (_, changes) => {
    const { mint, agent, request } = await signed();
    stage.rpc.policy({ mint, agent: agent.address, ...changes });
    const { sessions } = await rowCounts(stage.db);
    const reply = await session(request);
    expect([reply.status, reply.body.code]).toEqual([403, 'not_the_agent']);
    expect((await rowCounts(stage.db)).sessions).toBe(sessions);
    // The nonce is spent: an old key that is back has to sign a new challenge.
    stage.rpc.policy({ mint, agent: agent.address });
    await refused(401, 'invalid_challenge', () => session(request));
  });

  test('a valid signature spends its challenge even while the index is down; a new challenge gives a session', async () => {
    const { mint, agent, request } = await signed();
    stage.api.index = 'down';
    expect((await session(request)).body.code).toBe('chain_unreachable');
    await refused(503, 'chain_unreachable', () => stage.api.challenge(mint, agent.address));
    stage.api.index = 'up';
    await refused(401, 'invalid_challenge', () => session(request));
    expect(await stage.api.login(mint, agent)).toHaveLength(43);
    const gone = await signed();
    stage.rpc.forget(gone.mint);
    expect((await session(gone.request)).body.code).toBe('unknown_policy');
  });

  test.each([
    ['no JSON', '{'],
    ['JSON that is no object', '"x"'],
    ['a mint that is no key', { mint: '0OIl' }],
    ['an agent that is no key', { agent: STRANGER.address.slice(4) }],
    ['no nonce', { nonce: undefined }],
    ['no signature', { signature: undefined }],
  ])('session: %s is 400', async (_, changes) => {
    const { request } = await signed();
    const body = typeof changes === 'string' ? changes : { ...request, ...changes };
    await refused(400, 'invalid_request', () => session(body));
  });

  test('a nonce for another service name, or made with another nonce key, is 401 invalid_challenge', async () => {
    const { mint, agent } = stage.policy();
    const own = await nonceKeyOf(stage.db)();
    const issuedAt = Date.now();
    const attempts: [string, Uint8Array][] = [
      ['another-indexer', own],
      [SETTINGS.serviceName, Buffer.alloc(32, 7)],
    ];
    for (const [service, key] of attempts) {
      const terms = { service, mint, agent: agent.address };
      const nonce = makeNonce(key, terms, issuedAt);
      const message = challengeMessage({ ...terms, publicUrl: PUBLIC_URL, nonce, issuedAt });
      const signature = agent.sign(message).toString('base64');
      await refused(401, 'invalid_challenge', () =>
        session({ mint, agent: agent.address, nonce, signature }),
      );
    }
  });

  test('a signature over a message with another service URL is 401 bad_signature', async () => {
    const { mint, agent, request } = await signed();
    const issuedAt = Number(Buffer.from(String(request.nonce), 'base64url').readBigUInt64BE());
    const terms = { service: SETTINGS.serviceName, mint, agent: agent.address, nonce: String(request.nonce) };
    const message = challengeMessage({ ...terms, publicUrl: 'https://phishing.example', issuedAt });
    const signature = agent.sign(message).toString('base64');
    await refused(401, 'bad_signature', () => session({ ...request, signature }));
  });
});
