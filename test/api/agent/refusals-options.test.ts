import { describe, expect, test } from 'vitest';
import { startAgentApi } from './support/agent-api.ts';
import { ENGINES } from './support/postgres.ts';
import { OPEN, POST, refusalsOf } from './support/refused.ts';
import { useAgentStage } from './support/stage.ts';

describe.each(ENGINES)('refusals of the options routes, over %s', (engine) => {
  const stage = useAgentStage(engine);
  const { refused, post, open, close, loggedIn } = refusalsOf(stage);

  test.each([
    ['no instrument', { instrument: undefined }],
    ['an instrument with NUL', { instrument: 'ETH\0' }],
    ['an unknown direction', { direction: 'up' }],
    ['a size that is a number', { size: 1 }],
    ['a size with an exponent', { size: '1e3' }],
    ['a negative size', { size: '-1' }],
    ['a size without digits before its point', { size: '.5' }],
    ['a size without digits behind its point', { size: '5.' }],
    ['a size with two points', { size: '1.2.3' }],
    ['a size with a sign', { size: '+1' }],
    ['a size with a space', { size: ' 1' }],
    ['an empty size', { size: '' }],
    ['a size in other digits', { size: '１' }],
    ['a size of 1001 characters', { size: `0.5${'0'.repeat(998)}` }],
    ['an instrument of 101 characters', { instrument: `ETH-${'X'.repeat(97)}` }],
    ['an empty reason', { reason: '' }],
    ['a reason of 1001 characters', { reason: 'x'.repeat(1001) }],
    ['an unknown option type', { optionType: 'c' }],
    ['a strike that is no decimal', { strike: 'high' }],
    ['a strike of a point alone', { strike: '+.' }],
    ['a strike of two signs', { strike: '+-3500' }],
    ['a strike of two points', { strike: '3500..' }],
    ['a reason with half a surrogate pair', { reason: '\ud800' }],
    ['a reason with NUL', { reason: 'a\0b' }],
    ['no reason', { reason: undefined }],
    ['an underlying that is no text', { underlying: 5 }],
  ])('options/open: %s is 400', async (_, changes) => {
    const { token } = await loggedIn();
    await refused(400, 'invalid_request', () => open(token, changes));
    expect(stage.venue.asked).toEqual([]);
  });

  test('options/open: a size of 1000 characters is stored as written', async () => {
    const { token } = await loggedIn();
    const size = `0.5${'0'.repeat(997)}`;
    expect(await open(token, { size })).toMatchObject({ status: 201, body: { size } });
  });

  test('options/open and options/close: a body that is not a JSON object is 400', async () => {
    const { token } = await loggedIn();
    for (const body of ['', '{', '[]', '5', 'null']) {
      await refused(400, 'invalid_request', () => stage.api.call('POST', 'options/open', body, token));
      await refused(400, 'invalid_request', () => close(token, body));
    }
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
    ['an instrument that does not exist', 'unknown_instrument', { instrument: 'DOGE-X' }, {}],
    [
      'an instrument that is a perpetual',
      'unknown_instrument',
      {},
      { instrument_type: 'perp', option_details: null },
    ],
    ['an inactive instrument', 'unknown_instrument', {}, { is_active: false }],
    ['an instrument not activated yet', 'unknown_instrument', {}, { scheduled_activation: 4e9 }],
    ['a deactivated instrument', 'unknown_instrument', {}, { scheduled_deactivation: 1 }],
    ['size 0', 'size_out_of_range', { size: '0.00' }, { minimum_amount: '0' }],
    ['a size below the minimum', 'size_out_of_range', { size: '0.09' }, {}],
    ['a size above the maximum', 'size_out_of_range', { size: '100.01' }, {}],
    ['a size off the step', 'size_off_step', { size: '0.105' }, {}],
    ['a size off by the last of 40 digits', 'size_off_step', { size: `1.${'0'.repeat(38)}1` }, {}],
    ['a size of 400 digits', 'size_out_of_range', { size: '9'.repeat(400) }, {}],
    ['a size too small for a double', 'size_out_of_range', { size: `0.${'0'.repeat(400)}1` }, {}],
    ['a size off by the last of 400 digits', 'size_off_step', { size: `1.${'0'.repeat(400)}1` }, {}],
    ['the other option type', 'contract_mismatch', { optionType: 'put' }, {}],
    ['another underlying', 'contract_mismatch', { underlying: 'BTC' }, {}],
    ['another strike', 'contract_mismatch', { strike: '3500.01' }, {}],
    ['a strike below one', 'contract_mismatch', { strike: '.5' }, {}],
    ['a strike below zero', 'contract_mismatch', { strike: '-.5' }, {}],
  ])('options/open: %s is 422', async (_, code, changes, contract) => {
    const { token } = await loggedIn();
    stage.venue.instrument = contract;
    await refused(422, code, () => open(token, changes));
  });

  test('options/open: the first failing check decides: session, chain, body, policy kind, held row, venue', async () => {
    const passive = await loggedIn({ originId: 1 });
    const bad = { direction: 'up' };
    stage.rpc.fault = 'refuse';
    stage.venue.fault = 'refuse';
    await refused(401, 'invalid_session', () => open(`${passive.token}x`, bad));
    await refused(503, 'chain_unreachable', () => open(passive.token, bad));
    stage.rpc.fault = null;
    await refused(400, 'invalid_request', () => open(passive.token, bad));
    await refused(403, 'not_an_options_policy', () => open(passive.token));
    stage.venue.fault = null;
    const { token } = await loggedIn();
    expect((await open(token)).status).toBe(201);
    stage.venue.fault = 'refuse';
    await refused(409, 'already_held', () => open(token, { size: '0' }));
    await refused(503, 'venue_unreachable', () => open(token, { direction: 'short', size: '0' }));
  });

  test('options/open: a contract is 422 if the venue does not know it, or drops it before its quote is read', async () => {
    const { token } = await loggedIn();
    for (const method of ['get_instrument', 'get_ticker'] as const) {
      stage.venue.unknown = method;
      await refused(422, 'unknown_instrument', () => open(token));
    }
  });

  test('options/open: an unknown-instrument error of the venue is 422 even if it comes with HTTP 500', async () => {
    const { token } = await loggedIn();
    stage.venue.refusalStatus = 500;
    await refused(422, 'unknown_instrument', () => open(token, { instrument: 'DOGE-X' }));
    expect(stage.venue.asked).toEqual(['get_instrument']);
  });

  test('options/open: a second row for instrument and direction is 409, the other direction is not', async () => {
    const { token } = await loggedIn();
    expect((await open(token)).status).toBe(201);
    stage.venue.asked = [];
    await refused(409, 'already_held', () => open(token, { size: '7' }));
    expect(stage.venue.asked).toEqual([]);
    expect((await open(token, { direction: 'short' })).status).toBe(201);
  });

  test('options/close: an invalid or unknown id, or another policy’s, is 404; a second release is 409', async () => {
    const { token } = await loggedIn();
    const other = await loggedIn();
    const { body } = await open(token);
    const { positionId } = body;
    for (const id of ['', 'x', '9'.repeat(19), '0'.repeat(19), `${positionId}0`])
      await refused(404, 'unknown_position', () => close(token, { positionId: id, reason: 'x' }));
    await refused(404, 'unknown_position', () => close(other.token, { positionId, reason: 'x' }));
    await refused(400, 'invalid_request', () => close(token, { positionId: 5, reason: 'x' }));
    for (const reason of ['', 'x'.repeat(1001), '\udc00', 'a\0b', 5, undefined])
      await refused(400, 'invalid_request', () => close(token, { positionId, reason }));
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

  test.each(['poison', 'another'] as const)(
    'options/open: a venue answer that cannot be read (%s) is 503, and the error says so',
    async (fault) => {
      const { token } = await loggedIn();
      stage.venue.fault = fault;
      const { body } = await refused(503, 'venue_unreachable', () => open(token));
      expect(body.error).toContain('could not be read');
    },
  );

  test.each(['busy', 'refuse', 'hang', 'garbage'] as const)(
    'options/open and options/close: a venue without a valid answer (%s) is 503',
    async (fault) => {
      const { token } = await loggedIn();
      const { body } = await open(token);
      stage.venue.fault = fault;
      stage.venue.asked = [];
      const { call } = fault === 'hang' ? stage.impatient.ofVenue : stage.api;
      const short = { ...OPEN, direction: 'short' };
      await refused(503, 'venue_unreachable', () => call('POST', 'options/open', short, token));
      // Retried once where that may help.
      const questions = fault === 'garbage' ? 1 : 2;
      expect(stage.venue.asked).toHaveLength(questions);
      const release = { positionId: body.positionId, reason: 'x' };
      await refused(503, 'venue_unreachable', () => call('POST', 'options/close', release, token));
    },
  );

  test('options/open: an error of the venue’s own is 503 and the refusal names its code', async () => {
    const { token } = await loggedIn();
    stage.venue.error = { method: 'get_ticker', code: -32603 };
    const { body } = await refused(503, 'venue_unreachable', () => open(token));
    expect(body.error).toContain('error -32603');
  });

  test('options/open: a name that the venue rejects as an invalid parameter is 422, without a retry', async () => {
    const { token } = await loggedIn();
    for (const method of ['get_instrument', 'get_ticker'] as const) {
      Object.assign(stage.venue, { error: { method, code: -32602 }, asked: [] });
      await refused(422, 'unknown_instrument', () => open(token));
      expect(stage.venue.asked.filter((one) => one === method)).toHaveLength(1);
    }
  });

  test.each([
    [429, -32603],
    [502, -32603],
    [503, -32603],
    [504, -32603],
    [503, -32602],
  ])(
    'options/close: a venue error with HTTP %d (code %d) is 503: it says nothing about the instrument',
    async (refusalStatus, code) => {
      const { token } = await loggedIn();
      const { body } = await open(token);
      Object.assign(stage.venue, { error: { method: 'get_ticker', code }, refusalStatus });
      const release = { positionId: body.positionId, reason: 'x' };
      await refused(503, 'venue_unreachable', () => close(token, release));
    },
  );

  test.each([429, 502, 503, 504])(
    'options/open: a venue’s internal error with HTTP %d is 503, as if the venue had not answered',
    async (refusalStatus) => {
      const { token } = await loggedIn();
      Object.assign(stage.venue, { error: { method: 'get_instrument', code: -32603 }, refusalStatus });
      const { body } = await refused(503, 'venue_unreachable', () => open(token));
      expect(body.error).toContain('does not answer');
    },
  );

  test('options/open and options/close: without a configured venue both are 503; 404 and 409 come first', async () => {
    const { mint, agent } = stage.policy();
    const api = await startAgentApi({ db: stage.db, rpc: stage.rpc, venueUrl: null });
    const token = await api.login(mint, agent);
    await refused(503, 'venue_unreachable', () => api.call('POST', 'options/open', OPEN, token));
    const { body } = await open(token);
    const release = { positionId: body.positionId, reason: 'x' };
    await refused(503, 'venue_unreachable', () => api.call('POST', 'options/close', release, token));
    const unknown = { ...release, positionId: '999999999' };
    await refused(404, 'unknown_position', () => api.call('POST', 'options/close', unknown, token));
    await refused(409, 'already_held', () => api.call('POST', 'options/open', OPEN, token));
    await api.close();
  });

  test('order of refusals: session, chain, agent, body, policy kind, held row or position, limits, venue', async () => {
    const { mint, agent, token } = await loggedIn({ originId: 1 });
    stage.venue.fault = 'busy';
    stage.rpc.fault = 'busy';
    await refused(401, 'invalid_session', () => post(undefined, {}));
    await refused(503, 'chain_unreachable', () => open(token, { direction: 'up' }));
    stage.rpc.fault = null;
    const rotated = await loggedIn();
    stage.rpc.policy({ mint: rotated.mint, agent: agent.address });
    await refused(403, 'not_the_agent', () => open(rotated.token, { direction: 'up' }), 1);
    await refused(400, 'invalid_request', () => open(token, { direction: 'up' }));
    await refused(403, 'not_an_options_policy', () => open(token));
    stage.rpc.policy({ mint, agent: agent.address, originId: 2 });
    await refused(503, 'venue_unreachable', () => open(token));
    await refused(404, 'unknown_position', () => close(token, { positionId: '1', reason: 'x' }));
    stage.venue.fault = null;
    await open(token);
    stage.venue.fault = 'busy';
    await refused(409, 'already_held', () => open(token));
    stage.venue.fault = null;
    for (let n = 1; n < 10; n += 1) expect((await open(token, { instrument: `ETH-${n}` })).status).toBe(201);
    stage.venue.fault = 'busy';
    await refused(429, 'rate_limited', () => open(token, { instrument: 'ETH-10' }));
    await refused(409, 'already_held', () => open(token));
  });
});
