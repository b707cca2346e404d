import { describe, expect, test } from 'vitest';
import { challengeMessage } from '../../../api/agent/session/message.ts';
import { makeNonce, nonceKeyOf } from '../../../api/agent/session/nonce.ts';
import { encodeAccount } from '../../../devnet/program/state/borsh.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { SETTINGS } from '../support/api.ts';
import { PUBLIC_URL } from './support/agent-api.ts';
import { UNSET } from './support/fake-rpc.ts';
import { testKey } from './support/keys.ts';
import { ENGINES } from './support/postgres.ts';
import { BEARER_ROUTES, POST, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

const STRANGER = testKey('a stranger');

describe.each(ENGINES)('refusals of challenges, sessions and posts, over %s', (engine) => {
  const stage = useAgentStage(engine);

  const { refused, post, open, close, loggedIn } = refusalsOf(stage);

  test.each([
    ['a body that is not JSON', '{"mint":'],
    ['JSON that is no object', '[]'],
    ['a mint that is no key', { mint: 'x', agent: STRANGER.address }],
    ['an agent that is no key', { mint: STRANGER.address, agent: 7 }],
  ])('challenge: %s is 400', async (_, body) => {
    await refused(400, 'invalid_request', () => stage.api.call('POST', 'challenge', body));
  });

  test('challenge: a mint is 404 if its policy address has no account, no policy, or another program’s account', async () => {
    const ask = (mint: string) => () => stage.api.challenge(mint, STRANGER.address);
    await refused(404, 'unknown_policy', ask(STRANGER.address));
    const mint = testKey('a malformed one').address;
    const key = Buffer.from(decodeKey(mint) as Uint8Array);
    stage.rpc.raw(key, Buffer.alloc(40, 9));
    await refused(404, 'unknown_policy', ask(mint));
    const model = encodeAccount('Model', {
      id: 1,
      name: '',
      provider: '',
      enabled: true,
      registeredAt: 0n,
      bump: 0,
    });
    stage.rpc.raw(key, model);
    await refused(404, 'unknown_policy', ask(mint));
    stage.rpc.policy({ mint, agent: STRANGER.address });
    expect((await stage.api.challenge(mint, STRANGER.address)).status).toBe(200);
    stage.rpc.policy({ mint, agent: STRANGER.address, owner: Buffer.alloc(32, 1) });
    await refused(404, 'unknown_policy', ask(mint));
  });

  test('challenge: a key that is not the agent, an unset agent or a Passive policy is 403', async () => {
    const { mint } = stage.policy();
    await refused(403, 'not_the_agent', () => stage.api.challenge(mint, STRANGER.address));
    const unset = stage.policy();
    stage.rpc.policy({ mint: unset.mint, agent: UNSET });
    await refused(403, 'not_the_agent', () => stage.api.challenge(unset.mint, unset.agent.address));
    await refused(403, 'not_the_agent', () => stage.api.challenge(unset.mint, UNSET));
    const passive = stage.policy({ mode: 0 });
    await refused(403, 'not_the_agent', () => stage.api.challenge(passive.mint, passive.agent.address));
  });

  test.each(['busy', 'refuse', 'hang'] as const)(
    'challenge, session and posts: a node that is down (%s) is 503, and the signed nonce is spent',
    async (fault) => {
      const { mint, agent, token } = await loggedIn();
      const { body } = await stage.api.challenge(mint, agent.address);
      const api = fault === 'hang' ? stage.impatient.ofNode : stage.api;
      stage.rpc.fault = fault;
      await refused(503, 'chain_unreachable', () => api.challenge(mint, agent.address));
      await refused(503, 'chain_unreachable', () => api.call('POST', 'posts', POST, token));
      const signature = agent.sign(String(body.message)).toString('base64');
      const request = { mint, agent: agent.address, nonce: body.nonce, signature };
      const unread = await api.call('POST', 'session', request);
      expect([unread.status, unread.body.code]).toEqual([503, 'chain_unreachable']);
      stage.rpc.fault = null;
      // The signature was valid, so its nonce is spent whatever the answer was.
      await refused(401, 'invalid_challenge', () => stage.api.call('POST', 'session', request));
      expect(await stage.api.login(mint, agent)).toHaveLength(43);
    },
  );

  test('session: a nonce that is unknown, used, or of another mint or key is 401 invalid_challenge', async () => {
    const { mint, agent } = stage.policy();
    const other = stage.policy();
    const { body } = await stage.api.challenge(mint, agent.address);
    const signature = agent.sign(String(body.message)).toString('base64');
    const good = { mint, agent: agent.address, nonce: body.nonce, signature };
    const ask = (changes: object) => () => stage.api.call('POST', 'session', { ...good, ...changes });
    await refused(401, 'invalid_challenge', ask({ nonce: 'x' }));
    await refused(401, 'invalid_challenge', ask({ nonce: `${String(body.nonce)}=` }));
    await refused(401, 'invalid_challenge', ask({ nonce: `B${String(body.nonce).slice(1)}` }));
    await refused(401, 'invalid_challenge', ask({ mint: other.mint }));
    await refused(401, 'invalid_challenge', ask({ agent: other.agent.address }));
    await refused(400, 'invalid_request', ask({ nonce: null }));
    await refused(400, 'invalid_request', ask({ signature: 5 }));
    await refused(
      401,
      'bad_signature',
      ask({ signature: STRANGER.sign(String(body.message)).toString('base64') }),
    );
    await refused(401, 'bad_signature', ask({ signature: '' }));
    expect((await ask({})()).status).toBe(200);
    await refused(401, 'invalid_challenge', ask({}));
  });

  test('session: a challenge is 401 after ten minutes, and still accepted ten seconds before that', async () => {
    const { mint, agent } = stage.policy();
    const key = await nonceKeyOf(stage.db)();
    const terms = { service: SETTINGS.serviceName, mint, agent: agent.address };
    const ask = (ageMs: number) => {
      const issuedAt = Date.now() - ageMs;
      const nonce = makeNonce(key, terms, issuedAt);
      const message = challengeMessage({ ...terms, publicUrl: PUBLIC_URL, nonce, issuedAt });
      const signature = agent.sign(message).toString('base64');
      return stage.api.call('POST', 'session', { mint, agent: agent.address, nonce, signature });
    };
    await refused(401, 'invalid_challenge', () => ask(600_000));
    expect((await ask(590_000)).status).toBe(200);
  });

  test('a missing, unknown or expired token is 401 on every route that needs a session', async () => {
    const { token } = await loggedIn();
    for (const [method, path, body] of BEARER_ROUTES) {
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body));
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body, 'A'.repeat(43)));
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body, `${token}A`));
    }
    await stage.db.query(`UPDATE sessions SET expires_at = clock_timestamp()`);
    for (const [method, path, body] of BEARER_ROUTES)
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body, token));
  });

  test.each([
    ['an unknown kind', { ...POST, kind: 'opinion' }],
    ['no text', { kind: 'idle' }],
    ['an empty text', { kind: 'idle', text: '' }],
    ['1001 code points', { kind: 'idle', text: '🦊'.repeat(1001) }],
    ['half a surrogate pair in the text', '{"kind":"idle","text":"\\ud800"}'],
    ['a NUL character in the text', { kind: 'idle', text: 'a\0b' }],
    ['a trade without ref', { kind: 'trade', text: 'x', venue: 'perp_x' }],
    ['a trade at the options venue', { kind: 'trade', text: 'x', venue: 'options_x', ref: '1' }],
    [
      'a trade at a name that looks like the options venue',
      { kind: 'trade', text: 'x', venue: 'options\u200b_\uff58', ref: '1' },
    ],
    ['a trade at the options venue in capitals', { kind: 'trade', text: 'x', venue: 'OPTIONS_X', ref: '1' }],
    ['a trade without venue', { kind: 'trade', text: 'x', ref: '1' }],
    ['another kind with a venue', { ...POST, venue: 'perp_x' }],
    ['another kind with a ref', { ...POST, ref: '1' }],
    ['a ref that is a number', { kind: 'trade', text: 'x', venue: 'perp_x', ref: 5 }],
    ['a trade with an empty ref', { kind: 'trade', text: 'x', venue: 'perp_x', ref: '' }],
    ['a text that is a number', { kind: 'idle', text: 5 }],
    ['a kind named like a property of every object', { kind: 'toString', text: 'x' }],
    ['a list of posts', [POST]],
    ['no body', ''],
    ['a body that is not JSON', 'kind=idle'],
  ])('posts: %s is 400', async (_, body) => {
    const { token } = await loggedIn();
    await refused(400, 'invalid_request', () => post(token, body));
  });

  test('posts and reasons: a live session token, wherever it stands in the text, is 400', async () => {
    const { token } = await loggedIn();
    const other = await loggedIn();
    for (const text of [other.token, `x${other.token}y`, `see ${token}.`, `a-${other.token}_b`])
      await refused(400, 'invalid_request', () => post(token, { kind: 'idle', text }));
    const ref = { kind: 'trade', text: 'x', venue: 'v', ref: token };
    await refused(400, 'invalid_request', () => post(token, ref));
    await refused(400, 'invalid_request', () => open(token, { reason: token }));
    const { body } = await open(token);
    await refused(400, 'invalid_request', () => close(token, { positionId: body.positionId, reason: token }));
    const address = testKey('a public key').address;
    expect((await post(token, { kind: 'idle', text: `mint ${address} ${'B'.repeat(43)}` })).status).toBe(201);
  });
});
