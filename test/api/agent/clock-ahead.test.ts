import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sweep } from '../../../api/agent/limits/sweep.ts';
import { type AgentApi, rowCounts, startAgentApi } from './support/agent-api.ts';
import { type FakeRpc, startFakeRpc } from './support/fake-rpc.ts';
import { testKey } from './support/keys.ts';
import { type ShiftedClock, shiftedClock } from './support/shifted-clock.ts';

let clock: ShiftedClock;
let rpc: FakeRpc;
let api: AgentApi;
let policies = 0;
beforeAll(async () => {
  clock = await shiftedClock();
  rpc = await startFakeRpc();
  api = await startAgentApi({ db: clock.db, rpc, venueUrl: null });
});
beforeEach(async () => {
  // What one test had spent while its clock was ahead is not deleted in the next.
  await clock.db.query('DELETE FROM spent_nonces');
});
afterAll(async () => {
  await api.close();
  await rpc.close();
  await clock.db.close();
});

/** A request for a session with a challenge of the clock as it is, signed. */
async function signed() {
  policies += 1;
  const [mint, agent] = [testKey(`mint ahead ${policies}`).address, testKey(`agent ahead ${policies}`)];
  rpc.policy({ mint, agent: agent.address });
  const { nonce, message } = (await api.challenge(mint, agent.address)).body;
  return {
    ...{ mint, agent: agent.address, nonce },
    signature: agent.sign(String(message)).toString('base64'),
  };
}
const ask = async (request: object) => {
  const { status, body } = await api.call('POST', 'session', request);
  return status === 200 ? 200 : body.code;
};

test.each(['15 minutes', '3 hours', '400 days'])(
  'a spent challenge stays spent after the database’s clock was %s ahead for a while, and new ones are accepted',
  async (by) => {
    const request = await signed();
    expect(await ask(request)).toBe(200);
    await clock.shift(by);
    const meanwhile = await signed();
    expect(await ask(meanwhile)).toBe(200);
    await sweep(clock.db);
    await clock.shift('0');
    expect(await ask(request)).toBe('invalid_challenge');
    expect(await ask(meanwhile)).toBe('invalid_challenge');
    expect(await ask(await signed())).toBe(200);
  },
);

test('nonces that were deleted while the clock was ahead for a year stay spent, and block no later one', async () => {
  const before = await signed();
  expect(await ask(before)).toBe(200);
  await clock.shift('400 days');
  const ahead = await signed();
  expect(await ask(ahead)).toBe(200);
  await clock.shift('402 days');
  await sweep(clock.db);
  await clock.shift('0');
  expect(await ask(before)).toBe('invalid_challenge');
  const later = await signed();
  expect(await ask(later)).toBe(200);
  await clock.shift('400 days');
  expect(await ask(ahead)).toBe('invalid_challenge');
  await clock.shift('0');
});

test('a clock that is set back by hours blocks no challenge, whatever was spent in the hours that come again', async () => {
  for (const by of ['3 hours', '3 hours 20 minutes', '3 hours 40 minutes', '4 hours']) {
    await clock.shift(by);
    expect(await ask(await signed())).toBe(200);
  }
  await clock.shift('10 hours');
  await sweep(clock.db);
  await clock.shift('3 hours 1 minute');
  expect(await ask(await signed())).toBe(200);
  await clock.shift('0');
});

test('a challenge issued while the clock was ahead is not accepted once it is right again', async () => {
  await clock.shift('2 hours');
  const request = await signed();
  await clock.shift('0');
  expect(await ask(request)).toBe('invalid_challenge');
});

test('of the spent nonces that expired in an hour one row is left, from a day after that', async () => {
  for (const by of ['1000 days', '1010 days'])
    for (let n = 0; n < 3; n += 1) {
      await clock.shift(by);
      expect(await ask(await signed())).toBe(200);
    }
  const [hours] = await clock.db.query<{ n: number }>(
    'SELECT count(DISTINCT floor(extract(epoch FROM expires_at) / 3600))::int AS n FROM spent_nonces',
  );
  const { spent_nonces } = await rowCounts(clock.db);
  expect(spent_nonces).toBeGreaterThan(hours?.n ?? 0);
  await clock.shift('1020 days');
  for (let n = 0; n < 2; n += 1) await sweep(clock.db);
  expect((await rowCounts(clock.db)).spent_nonces).toBe(hours?.n);
  await clock.shift('0');
});

test('a session started while the clock was ahead ends once it is right again, and does not live again later', async () => {
  await clock.shift('2 hours');
  const token = String((await api.call('POST', 'session', await signed())).body.token);
  const write = async () =>
    (await api.call('POST', 'posts', { kind: 'idle', text: 'waiting' }, token)).body.code ?? 'stored';
  expect(await write()).toBe('stored');
  await clock.shift('0');
  expect(await write()).toBe('invalid_session');
  await sweep(clock.db);
  await clock.shift('2 hours');
  expect(await write()).toBe('invalid_session');
  await clock.shift('0');
  const right = String((await api.call('POST', 'session', await signed())).body.token);
  await sweep(clock.db);
  expect((await api.call('POST', 'posts', { kind: 'idle', text: 'waiting' }, right)).status).toBe(201);
});
