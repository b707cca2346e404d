import { describe, expect, test } from 'vitest';
import { challengeMessage } from '../../../api/agent/message.ts';
import { makeNonce, nonceKeyOf } from '../../../api/agent/nonce.ts';
import { encodeAccount } from '../../../devnet/borsh.ts';
import { decodeKey } from '../../../schemas/base58.ts';
import { SETTINGS } from '../support/api.ts';
import { PUBLIC_URL, type Reply, rowCounts, startAgentApi } from './support/agent-api.ts';
import { UNSET } from './support/fake-rpc.ts';
import { CALL } from './support/fake-venue.ts';
import { testKey } from './support/keys.ts';
import { ENGINES } from './support/postgres.ts';
import { useAgentStage } from './support/stage.ts';

const OPEN = { instrument: CALL, direction: 'long', size: '0.5', reason: 'a reason' };
const POST = { kind: 'thesis', text: 'a text' };
const STRANGER = testKey('a stranger');

describe.each(ENGINES)('a refusal over %s', (engine) => {
  const stage = useAgentStage(engine);

  /** The reply is this refusal and nothing was stored. */
  async function refused(status: number, code: string, request: () => Promise<Reply>): Promise<Reply> {
    const before = await rowCounts(stage.db);
    const reply = await request();
    expect([reply.status, reply.body.code], reply.text).toEqual([status, code]);
    expect(reply.body.error).toMatch(/\S{2,}/);
    expect(reply.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
    expect(reply.headers.has('retry-after')).toBe(code === 'rate_limited');
    expect(await rowCounts(stage.db)).toEqual(before);
    return reply;
  }

  const post = (token: string | undefined, body: unknown) => stage.api.call('POST', 'posts', body, token);
  const open = (token: string, changes: object = {}) =>
    stage.api.call('POST', 'options/open', { ...OPEN, ...changes }, token);
  const close = (token: string, body: object) => stage.api.call('POST', 'options/close', body, token);

  async function loggedIn(changes: { originId?: number } = {}) {
    const { mint, agent } = stage.policy(changes);
    return { mint, agent, token: await stage.api.login(mint, agent) };
  }

  test.each([
    ['no JSON', '{"mint":'],
    ['JSON that is no object', '[]'],
    ['a mint that is no key', { mint: 'x', agent: STRANGER.address }],
    ['an agent that is no key', { mint: STRANGER.address, agent: 7 }],
  ])('challenge: %s is 400', async (_, body) => {
    await refused(400, 'invalid_request', () => stage.api.call('POST', 'challenge', body));
  });

  test('challenge: a mint without a policy on chain, or with bytes that are none, is 404', async () => {
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
    stage.rpc.raw(key, model, Buffer.alloc(32, 1));
    await refused(404, 'unknown_policy', ask(mint));
  });

  test('challenge: another key, an unset agent and a Passive policy are 403', async () => {
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
    'challenge and posts: a node that is down (%s) is 503',
    async (fault) => {
      const { mint, agent, token } = await loggedIn();
      const { body } = await stage.api.challenge(mint, agent.address);
      stage.rpc.fault = fault;
      await refused(503, 'chain_unreachable', () => stage.api.challenge(mint, agent.address));
      await refused(503, 'chain_unreachable', () => post(token, POST));
      const signature = agent.sign(String(body.message)).toString('base64');
      const request = { mint, agent: agent.address, nonce: body.nonce, signature };
      await refused(503, 'chain_unreachable', () => stage.api.call('POST', 'session', request));
      stage.rpc.fault = null;
      expect((await stage.api.call('POST', 'session', request)).status).toBe(200);
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

  test('session: a challenge of ten minutes ago is 401, one of a second less is good', async () => {
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

  test('every route that needs a session: none, an unknown and an expired token are 401', async () => {
    const { token } = await loggedIn();
    const routes: [string, string, unknown][] = [
      ['POST', 'posts', POST],
      ['POST', 'options/open', OPEN],
      ['POST', 'options/close', { positionId: '1', reason: 'x' }],
      ['GET', 'options/positions', undefined],
    ];
    for (const [method, path, body] of routes) {
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body));
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body, 'A'.repeat(43)));
      await refused(401, 'invalid_session', () => stage.api.call(method, path, body, `${token}A`));
    }
    await stage.db.query(`UPDATE sessions SET expires_at = clock_timestamp()`);
    await refused(401, 'invalid_session', () => post(token, POST));
  });

  test.each([
    ['an unknown kind', { ...POST, kind: 'opinion' }],
    ['no text', { kind: 'idle' }],
    ['an empty text', { kind: 'idle', text: '' }],
    ['1001 code points', { kind: 'idle', text: '🦊'.repeat(1001) }],
    ['half a surrogate pair', '{"kind":"idle","text":"\\ud800"}'],
    ['NUL', { kind: 'idle', text: 'a\0b' }],
    ['a trade without ref', { kind: 'trade', text: 'x', venue: 'perp_x' }],
    ['a trade without venue', { kind: 'trade', text: 'x', ref: '1' }],
    ['another kind with a venue', { ...POST, venue: 'perp_x' }],
    ['another kind with a ref', { ...POST, ref: '1' }],
    ['a ref that is no text', { kind: 'trade', text: 'x', venue: 'perp_x', ref: 5 }],
    ['no JSON', 'kind=idle'],
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

  test('a body over 16 KiB is 413', async () => {
    const { token } = await loggedIn();
    await refused(413, 'too_large', () => post(token, { kind: 'idle', text: 'x'.repeat(17_000) }));
  });

  test.each([
    ['no instrument', { instrument: undefined }],
    ['an instrument with NUL', { instrument: 'ETH\0' }],
    ['an unknown direction', { direction: 'up' }],
    ['a size that is a number', { size: 1 }],
    ['a size with an exponent', { size: '1e3' }],
    ['a negative size', { size: '-1' }],
    ['a size without digits before its point', { size: '.5' }],
    ['an empty reason', { reason: '' }],
    ['a reason of 1001 characters', { reason: 'x'.repeat(1001) }],
    ['an unknown option type', { optionType: 'c' }],
    ['a strike that is no decimal', { strike: 'high' }],
  ])('options/open: %s is 400', async (_, changes) => {
    const { token } = await loggedIn();
    await refused(400, 'invalid_request', () => open(token, changes));
    expect(stage.venue.asked).toEqual([]);
  });

  test('options routes: a policy whose origin lacks the OPTION bit is 403', async () => {
    const { token } = await loggedIn({ originId: 1 });
    await refused(403, 'not_an_options_policy', () => open(token));
    await refused(403, 'not_an_options_policy', () => close(token, { positionId: '1', reason: 'x' }));
    await refused(403, 'not_an_options_policy', () =>
      stage.api.call('GET', 'options/positions', undefined, token),
    );
    expect((await post(token, POST)).status).toBe(201);
  });

  test.each([
    ['422 of a name that is not there', 'unknown_instrument', { instrument: 'DOGE-X' }, {}],
    ['422 of a perpetual', 'unknown_instrument', {}, { instrument_type: 'perp', option_details: null }],
    ['422 of one that is not active', 'unknown_instrument', {}, { is_active: false }],
    ['422 of one not activated yet', 'unknown_instrument', {}, { scheduled_activation: 4e9 }],
    ['422 of one deactivated', 'unknown_instrument', {}, { scheduled_deactivation: 1 }],
    ['size 0', 'size_out_of_range', { size: '0.00' }, { minimum_amount: '0' }],
    ['a size below the least', 'size_out_of_range', { size: '0.09' }, {}],
    ['a size above the most', 'size_out_of_range', { size: '100.01' }, {}],
    ['a size off the step', 'size_off_step', { size: '0.105' }, {}],
    ['a size off by the last of 40 digits', 'size_off_step', { size: `1.${'0'.repeat(38)}1` }, {}],
    ['the other type', 'contract_mismatch', { optionType: 'put' }, {}],
    ['another underlying', 'contract_mismatch', { underlying: 'BTC' }, {}],
    ['another strike', 'contract_mismatch', { strike: '3500.01' }, {}],
  ])('options/open: %s is refused', async (_, code, changes, contract) => {
    const { token } = await loggedIn();
    stage.venue.instrument = contract;
    await refused(422, code, () => open(token, changes));
  });

  test('options/open: a second row for instrument and direction is 409, the other direction is not', async () => {
    const { token } = await loggedIn();
    expect((await open(token)).status).toBe(201);
    stage.venue.asked = [];
    await refused(409, 'already_held', () => open(token, { size: '7' }));
    expect(stage.venue.asked).toEqual([]);
    expect((await open(token, { direction: 'short' })).status).toBe(201);
  });

  test('options/close: an id that is none, unknown or of another policy is 404, a second release 409', async () => {
    const { token } = await loggedIn();
    const other = await loggedIn();
    const { body } = await open(token);
    const { positionId } = body;
    for (const id of ['', 'x', '9'.repeat(19), '0'.repeat(19), `${positionId}0`])
      await refused(404, 'unknown_position', () => close(token, { positionId: id, reason: 'x' }));
    await refused(404, 'unknown_position', () => close(other.token, { positionId, reason: 'x' }));
    await refused(400, 'invalid_request', () => close(token, { positionId: 5, reason: 'x' }));
    await refused(400, 'invalid_request', () => close(token, { positionId, reason: '' }));
    expect((await close(token, { positionId, reason: 'x' })).status).toBe(200);
    await refused(409, 'already_released', () => close(token, { positionId, reason: 'x' }));
  });

  test('options/positions: an unknown status is 400', async () => {
    const { token } = await loggedIn();
    for (const status of ['', 'Held', 'toString'])
      await refused(400, 'invalid_request', () =>
        stage.api.call('GET', `options/positions?status=${status}`, undefined, token),
      );
  });

  test.each(['busy', 'refuse', 'hang', 'garbage', 'poison'] as const)(
    'options: a venue that does not answer soundly (%s) is 503, for open and for close',
    async (fault) => {
      const { token } = await loggedIn();
      const { body } = await open(token);
      stage.venue.fault = fault;
      await refused(503, 'venue_unreachable', () => open(token, { direction: 'short' }));
      await refused(503, 'venue_unreachable', () =>
        close(token, { positionId: body.positionId, reason: 'x' }),
      );
    },
  );

  test('options: without a configured venue it is 503', async () => {
    const { mint, agent } = stage.policy();
    const api = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: null });
    const token = await api.login(mint, agent);
    await refused(503, 'venue_unreachable', () => api.call('POST', 'options/open', OPEN, token));
    await api.close();
  });

  test('the first check that fails names the refusal: session, chain, body, policy kind, held row, venue', async () => {
    const { mint, agent, token } = await loggedIn({ originId: 1 });
    stage.venue.fault = 'busy';
    stage.rpc.fault = 'busy';
    await refused(401, 'invalid_session', () => post(undefined, {}));
    await refused(503, 'chain_unreachable', () => open(token, { direction: 'up' }));
    stage.rpc.fault = null;
    await refused(400, 'invalid_request', () => open(token, { direction: 'up' }));
    await refused(403, 'not_an_options_policy', () => open(token));
    stage.rpc.policy({ mint, agent: agent.address, originId: 2 });
    await refused(503, 'venue_unreachable', () => open(token));
    await refused(404, 'unknown_position', () => close(token, { positionId: '1', reason: 'x' }));
    stage.venue.fault = null;
    await open(token);
    stage.venue.fault = 'busy';
    await refused(409, 'already_held', () => open(token));
  });
});
