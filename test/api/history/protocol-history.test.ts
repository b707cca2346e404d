import { expect, test } from 'vitest';
import { protocolHistoryAnswer } from '../../../api/history/answers.ts';
import { STEPS_A_BLOCK } from '../../../api/history/blocks.ts';
import type { ProtocolHistoryResponse, QuoteHistory } from '../../../schemas/responses/history.ts';
import { SETTINGS } from '../support/api.ts';
import { eventRow, key, policyRow, signature, tokenAccountRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';
import { at, balance, H, HOUR, local, ofPolicy, START, seed, venue } from './support/stage.ts';

const other = policyRow('n', 'usd', { created_at: START + HOUR + 5, hwm: '1000', block_time: START });
const { address, bankroll } = other as { address: string; bankroll: string };

const held = useApi(async (api) => {
  await seed(api);
  await api.insert('policies', [other]);
  await api.insert('token_accounts', [tokenAccountRow(bankroll, '7')]);
  await api.insert('account_hours', [
    at(1, 1150, 'policies', { address, hwm: '5', venue_count: 0 }),
    balance(1, 1150, '9', bankroll),
  ]);
});

async function items(query = `from=${START}`): Promise<Record<string, QuoteHistory[]>> {
  const { body } = await held.api.get<ProtocolHistoryResponse>(`/analytics/history?${query}`);
  return Object.fromEntries(
    body.items.map(({ time, byQuote }) => [String(Date.parse(time) / 1000 / HOUR - H).slice(0, 4), byQuote]),
  );
}

test('each item sums, per quote asset, the policies that had begun by its time', async () => {
  const all = await items();
  expect(Object.keys(all)).toEqual(['1', '2', '3', '4', '5', '6', '6.33']);
  expect(all[1]).toMatchObject([
    { quoteMint: key('usd'), policyCount: 1, hwm: { value: '10' }, decimals: 6 },
  ]);
  expect(all[2]).toMatchObject([
    { policyCount: 2, hwm: { value: '15' }, bankroll: { value: '109' }, deployed: { value: '0' } },
  ]);
  expect(all[6]).toMatchObject([
    {
      ...{ hwm: { value: '35' }, bankroll: { value: '309' }, feesClaimed: { value: '3' } },
      ...{ deployed: { value: '720' }, attestedEquity: { value: '700' }, profitSwept: { value: '5' } },
    },
  ]);
  expect(all['6.33']).toMatchObject([
    {
      ...{ policyCount: 2, hwm: { value: '1077' }, bankroll: { value: '507' }, deployed: { value: '940' } },
      ...{ attestedEquity: { value: '900' }, feesClaimed: { value: '22' } },
    },
  ]);
});

test('the present deployed sum is absent if a token account is now of another mint than it is registered with', async () => {
  const isOf = async (slot: bigint, mint: string) => {
    const placed = { slot: String(slot), version: String(slot << 64n) };
    await held.api.insert('token_accounts', [tokenAccountRow(key('local'), '40', { ...placed, mint })]);
    return (await items())['6.33']?.[0];
  };
  const reason = `the token account ${key('local')} is of ${key('own')}, not of ${key('usd')}, which it is registered with`;
  expect(await isOf(1601n, key('own'))).toMatchObject({
    ...{ deployed: { value: null, absent: true, reason }, attestedEquity: { value: '900' } },
    bankroll: { value: '507' },
  });
  expect(await isOf(1602n, '')).toMatchObject({ deployed: { value: '940' } });
  expect(await isOf(1603n, key('usd'))).toMatchObject({ deployed: { value: '940' } });
  // The program counts balances in the quote asset, and ignores the registered asset.
  const written = { slot: '1604', version: String(1604n << 64n) };
  await held.api.insert('venue_accounts', [{ ...local, ...written, asset_mint: key('slip') }]);
  expect(await isOf(1605n, key('usd'))).toMatchObject({ deployed: { value: '940' } });
});

test('a cached response that depends on the current second expires with that second', async () => {
  const answer = protocolHistoryAnswer({ latest: held.api.latest, settings: SETTINGS, readPosts: null });
  const asked = START + 6 * HOUR;
  const until = async (now: number, query: string) => {
    held.api.at(now * 1000);
    const made = await held.api.latest.read((view) =>
      answer({ params: {}, query: new URLSearchParams(query) }, view),
    );
    return [made.value.status, made.until / 1000];
  };
  expect(await until(asked - 10, `from=${asked}`)).toEqual([400, asked - 9]);
  expect(await until(asked, `from=${asked}`)).toEqual([200, asked + 1]);
  expect(await until(asked, `from=${asked}&to=${asked}`)).toEqual([200, asked + 1]);
  expect(await until(asked + 1, `from=${asked}&to=${asked}`)).toEqual([200, Number.POSITIVE_INFINITY]);
});

test('where the state of a policy is not known its sums are absent, and counters are summed from events', async () => {
  await held.api.insert('stream_holes', [{ after_slot: '1310', to_slot: '1420' }]);
  await held.api.insert('account_hours', [
    ofPolicy(4, 1430, { hwm: '40', fees_claimed: '4' }),
    venue(4, 1430, { address: 'nobody', token_account: 'x', kind: 'Local' }),
  ]);
  await held.api.insert('events', [
    eventRow('m', 'FeesClaimed', 1, { amount_a: '7', block_time: START + 60 }),
    eventRow('n', 'FeesClaimed', 2, { amount_a: '5', block_time: START + 4 * HOUR }),
  ]);
  const all = await items();
  expect(all[4]?.[0]?.hwm.reason).toBe('0 of 2 accounts of policies are known of that moment');
  expect(all[5]?.[0]?.hwm.reason).toBe('1 of 2 accounts of policies are known of that moment');
  expect(all[5]?.[0]?.bankroll.reason).toBe('0 of 2 bankrolls are known of that moment');
  expect([3, 4, 5].map((end) => all[end]?.[0]?.feesClaimed.value)).toEqual(['1', '7', '12']);
});

test('an incomplete transaction makes event counters that need it absent from its time on, or all if it has no time', async () => {
  await held.api.insert('stream_holes', [{ after_slot: '1310', to_slot: '1420' }]);
  await held.api.insert('events', [
    eventRow('m', 'FeesClaimed', 1, { amount_a: '7', block_time: START + 60 }),
  ]);
  const midnight = START + 4 * HOUR;
  expect(midnight % 86_400).toBe(0);
  const claimed = async (changed: object) => {
    const cut = { signature: signature('cut'), slot: '5', policies: [], reason: 'cut' };
    await held.api.insert('incomplete_transactions', [{ ...cut, missing: ['FeesClaimed'], ...changed }]);
    const all = await items();
    return [3, 4, 5].map((end) => all[end]?.[0]?.feesClaimed);
  };
  const valuesOf = async (changed: object) => (await claimed(changed)).map((figure) => figure?.value);
  expect(await valuesOf({ block_time: midnight, missing: ['Routed'] })).toEqual(['1', '7', '7']);
  const last = (await claimed({ block_time: midnight })).at(-1);
  expect(last?.reason).toContain('the logs of a transaction were cut');
  expect(await valuesOf({ block_time: midnight + 10 })).toEqual(['1', '7', null]);
  expect(await valuesOf({ block_time: midnight - 1 })).toEqual(['1', null, null]);
  expect(await valuesOf({ block_time: null })).toEqual(['1', null, null]);
});

test('an unseen change makes sums absent from the last state that the stream brought up to the reading', async () => {
  await held.api.insert('account_hours', [at(4, 1450, 'policies', { address, hwm: '6' })]);
  await held.api.insert('unseen_changes', [{ address, after_slot: '1150', to_slot: '1450' }]);
  const open = await items();
  expect([2, 3, 4, 5].map((end) => open[end]?.[0]?.hwm.value)).toEqual([null, null, null, '36']);
  await held.api.insert('first_streamed', [{ address, hour: H + 3, slot: '1340', before: '1' }]);
  await held.api.insert('unseen_changes', [{ address: 'another', after_slot: '1', to_slot: '2' }]);
  const streamed = await items();
  expect([2, 3, 4, 5].map((end) => streamed[end]?.[0]?.hwm.value)).toEqual(['15', '15', null, '36']);
});

test('a write missed in an hour’s last slot leaves the sum at its end absent, whatever the next slot brings', async () => {
  await held.api.insert('account_hours', [at(4, 1400, 'policies', { address, hwm: '6' })]);
  await held.api.insert('first_streamed', [{ address, hour: H + 4, slot: '1400', before: '1' }]);
  await held.api.insert('unseen_changes', [{ address, after_slot: '1398', to_slot: '1400' }]);
  const open = await items();
  expect([2, 3, 4, 5].map((end) => open[end]?.[0]?.hwm.value)).toEqual(['15', '15', null, '36']);
});

test('a day equals its last hour, also where its counters come from events alone', async () => {
  await held.api.insert('policies', [policyRow('o', 'usd', { created_at: START - 80 * HOUR })]);
  // Days end 20 hours before, and every 24 before that.
  const hoursBefore = [79, 69, 68, 67, 45, 44, 43, 21, 20, 19, 1];
  await held.api.insert(
    'events',
    hoursBefore.map((hours, n) =>
      eventRow('o', 'FeesClaimed', n, { amount_a: String(1 << n), block_time: START - hours * HOUR }),
    ),
  );
  const told = async (step: string) => {
    const range = `from=${START - 78 * HOUR}&to=${START + 4 * HOUR}`;
    const { body } = await held.api.get<ProtocolHistoryResponse>(`/analytics/history?step=${step}&${range}`);
    return body.items;
  };
  const [days, hours] = [await told('day'), await told('hour')];
  expect(days.map(({ byQuote }) => byQuote[0]?.feesClaimed.value)).toEqual(['3', '31', '255', '2047']);
  expect(days).toEqual(hours.filter(({ time }) => time.includes('T00:00:00')));
});

test('with step=day an item has the state at its midnight, and the last one up to now the present state', async () => {
  // After the midnight at which the fourth hour ends.
  await held.api.insert('account_hours', [ofPolicy(4, 1405, { hwm: '50' }), balance(5, 1505, '400')]);
  const told = async (to: string) => {
    const { body } = await held.api.get<ProtocolHistoryResponse>(
      `/analytics/history?step=day&from=${START - 86_400}${to}`,
    );
    expect(body.step).toBe('day');
    return body.items.map(({ time, byQuote: [of] }) => [
      (Date.parse(time) / 1000 - START) / HOUR,
      of && [of.hwm.value, of.bankroll.value],
    ]);
  };
  const midnights = [
    [-20, undefined],
    [4, ['35', '309']],
  ];
  for (const hours of [4, 6]) expect(await told(`&to=${START + hours * HOUR}`)).toEqual(midnights);
  expect(await told('')).toEqual([...midnights, [6 + 1 / 3, ['1077', '507']]]);
});

test('an item is the same in any range, and further ranges do not query the states again', async () => {
  const long = (STEPS_A_BLOCK * 5 + 17) * HOUR;
  const all = await items(`from=${START - long}&step=hour`);
  for (const end of [1, 2, 5, 6]) {
    const alone = await items(`from=${START + (end - 1) * HOUR}&to=${START + end * HOUR}`);
    expect(alone[end]).toEqual(all[end]);
  }
  const asked = held.api.queries('PARTITION BY h.address');
  expect(asked).toBeGreaterThan(0);
  for (let days = 1; days < 30; days += 7) await items(`from=${START - days * 86_400}&step=hour`);
  expect(held.api.queries('PARTITION BY h.address')).toBe(asked);
});

test('the response is indented JSON like any other, with one item per step, for any range', async () => {
  for (const query of [
    `from=${START - 30 * HOUR}`,
    `from=${START - 30 * HOUR}&to=${START + 3 * HOUR}`,
    `from=${START + HOUR}&to=${START + 2 * HOUR}`,
    `from=${START}&to=${START}`,
    `step=day&from=${START - 40 * 86_400}`,
    `step=day&from=${START - 40 * 86_400}&to=${START}`,
    'from=0&to=7200',
  ]) {
    const text = await (await fetch(`${held.api.url}/analytics/history?${query}`)).text();
    const body = JSON.parse(text) as ProtocolHistoryResponse;
    expect(text, query).toBe(`${JSON.stringify(body, null, 2)}\n`);
    const each = body.step === 'hour' ? HOUR : 86_400;
    expect(body.items.length, query).toBe(
      Math.ceil((Date.parse(body.to) - Date.parse(body.from)) / 1000 / each),
    );
  }
});
