import { describe, expect, test } from 'vitest';
import type { Figure } from '../../../schemas/figure.ts';
import type { CoinHistoryItem, CoinHistoryResponse } from '../../../schemas/responses/history.ts';
import { isoTime } from '../../../schemas/units.ts';
import { appliedRow, eventRow, gapRow, key, poolKey, signature, tokenAccountRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';
import {
  address,
  at,
  bankroll,
  H,
  HOUR,
  local,
  NOW,
  ofPolicy,
  policy,
  remote,
  START,
  seed,
  venue,
} from './support/stage.ts';

const held = useApi(seed);

async function items(query = `from=${START}`): Promise<Record<string, CoinHistoryItem>> {
  const { body } = await held.api.get<CoinHistoryResponse>(`/coins/${key('m')}/history?${query}`);
  return Object.fromEntries(
    body.items.map((item) => [String(Date.parse(item.time) / 1000 / HOUR - H).slice(0, 4), item]),
  );
}

const values = (
  all: Record<string, CoinHistoryItem>,
  of: keyof Omit<CoinHistoryItem, 'time' | 'marketCap'>,
) => Object.fromEntries(Object.entries(all).map(([end, item]) => [end, item[of].value]));
const reasonOf = (figure: Figure | undefined) => figure?.reason;

test('the present deployed sum is absent if a token account is now of another mint than it is registered with', async () => {
  const row = tokenAccountRow(key('local'), '40', { slot: '1608', version: String(1608n << 64n) });
  await held.api.insert('token_accounts', [{ ...row, mint: key('own') }]);
  const all = await items();
  const reason = `the token account ${key('local')} is of ${key('own')}, not of ${key('usd')}, which it is registered with`;
  expect(all['6.33']).toMatchObject({
    ...{ deployed: { value: null, absent: true, reason }, attestedEquity: { value: '900' } },
    bankroll: { value: '500' },
  });
});

test('each item is the state at its time, and the last one is the present state', async () => {
  const all = await items();
  expect(values(all, 'hwm')).toEqual({
    ...{ 1: '10', 2: '10', 3: '10', 4: '30', 5: '30', 6: '30' },
    6.33: '77',
  });
  expect(values(all, 'bankroll')).toMatchObject({
    ...{ 1: null, 2: '100', 3: '100', 4: '300', 6: '300' },
    6.33: '500',
  });
  expect(all[4]?.hwm).toEqual({
    ...{
      value: '30',
      source: 'chain:Policy.hwm',
      asOf: new Date((START + 3 * HOUR + 10) * 1000).toISOString(),
    },
  });
  // Only an hour's last state is kept, not when its first one was.
  const firstHourEnds = new Date((START + 2 * HOUR) * 1000).toISOString();
  expect(reasonOf(all[1]?.bankroll)).toBe(
    `${bankroll} is not known before the hour that ends at ${firstHourEnds}`,
  );
  expect(all[6]).toMatchObject({
    feesClaimed: { value: '3' },
    profitSwept: { value: '5' },
    tokensBurned: { value: '6' },
    deployed: { value: '720' },
    attestedEquity: { value: '700', asOf: new Date((START + 2 * HOUR) * 1000).toISOString() },
  });
  expect(all['6.33']).toMatchObject({ deployed: { value: '940' }, attestedEquity: { value: '900' } });
});

test('the deployed sum is absent unless as many venue accounts are known as the policy counts', async () => {
  const all = await items();
  expect(all[1]?.deployed).toMatchObject({ value: '0' });
  // The policy says 0 venue accounts until hour 3, two are known from hour 2 on.
  expect(reasonOf(all[3]?.deployed)).toContain('2 of 0 venue accounts');
});

test('the deployed sum leaves out accounts that were revoked or closed by then', async () => {
  const attested = { remote_equity: '700', remote_asof: START + 2 * HOUR };
  await held.api.insert('account_hours', [
    venue(4, 1405, remote, { ...attested, revoked: 1 }),
    ofPolicy(4, 1405, { venue_count: 1 }),
    venue(5, 1505, local, { exists: 0 }),
    ofPolicy(5, 1505, { venue_count: 0 }),
  ]);
  const all = await items();
  expect(values(all, 'deployed')).toMatchObject({ 4: '720', 5: '20', 6: '0' });
  expect(values(all, 'attestedEquity')).toMatchObject({ 4: '700', 5: '0', 6: '0' });
});

test('a policy has no items before it began, and the last day shows the present state', async () => {
  await held.api.insert('policies', [
    { ...policy, version: String(2000n << 64n), created_at: START + HOUR + 1 },
  ]);
  const all = await items(`from=${START - 5 * HOUR}`);
  expect(Object.keys(all)).toEqual(['2', '3', '4', '5', '6', '6.33']);
  const { body } = await held.api.get<CoinHistoryResponse>(`/coins/${key('m')}/history?step=day`);
  expect(body.items.at(-1)).toMatchObject({ time: new Date(NOW).toISOString(), hwm: { value: '77' } });
});

test('after a hole in the stream a state is absent until the account was seen again', async () => {
  await held.api.insert('stream_holes', [{ after_slot: '1420', to_slot: '1520' }]);
  await held.api.insert('account_hours', [ofPolicy(5, 1530, { hwm: '50' })]);
  const all = await items();
  expect(values(all, 'hwm')).toMatchObject({ 4: '30', 5: null, 6: '50' });
  expect(values(all, 'bankroll')).toMatchObject({ 4: '300', 5: null, 6: null });
  expect(reasonOf(all[5]?.hwm)).toContain('slots 1421 to 1520 were not streamed');
});

describe('counters at times whose state is not known', () => {
  const events = [
    eventRow('m', 'FeesClaimed', 1, { amount_a: '7', block_time: START + 60 }),
    eventRow('m', 'FeesClaimed', 2, { amount_a: '5', block_time: START + 4 * HOUR }),
    eventRow('m', 'ProfitSwept', 3, {
      ...{ amount_a: '100', amount_b: '2', amount_c: '3', block_time: START + 4 * HOUR + 1 },
    }),
    eventRow('m', 'BuybackBurned', 4, { amount_a: '100', amount_b: '11', block_time: START + 4 * HOUR + 2 }),
    eventRow('m', 'BaseLegBurned', 5, { amount_a: '13', block_time: START + 4 * HOUR + 3 }),
  ];

  test('counters are the sums of the events up to then', async () => {
    await held.api.insert('events', events);
    await held.api.insert('stream_holes', [{ after_slot: '1310', to_slot: '1590' }]);
    const all = await items();
    expect(values(all, 'feesClaimed')).toMatchObject({ 1: '1', 4: '7', 5: '12', 6: '12' });
    expect(all[5]).toMatchObject({
      profitSwept: { value: '5', source: 'indexer:ProfitSwept events' },
      tokensBurned: { value: '24' },
      hwm: { value: null, absent: true },
    });
    expect(all[5]?.feesClaimed.asOf).toBe(new Date((START + 4 * HOUR) * 1000).toISOString());
    expect(all[4]?.tokensBurned.value).toBe('0');
  });

  test('counters are absent while the transactions of a gap are not read', async () => {
    await held.api.insert('events', events);
    await held.api.insert('stream_holes', [{ after_slot: '1310', to_slot: '1590' }]);
    await held.api.insert('gaps', [gapRow('1590', { from_slot: '1311' })]);
    const all = await items();
    expect(values(all, 'feesClaimed')).toMatchObject({ 3: '1', 4: null, 5: null });
    expect(reasonOf(all[4]?.feesClaimed)).toContain('history is not complete');
    expect(reasonOf(all[4]?.feesClaimed)).toContain('were not streamed');
  });

  test('a counter is present up to the first incomplete transaction that lacks its amount, and absent after it', async () => {
    await held.api.insert('events', events);
    await held.api.insert('stream_holes', [{ after_slot: '1310', to_slot: '1590' }]);
    const claimed = async (name: string, changed: object) => {
      const cut = { signature: signature(name), slot: '5', policies: [address], reason: 'cut' };
      await held.api.insert('incomplete_transactions', [{ ...cut, missing: ['FeesClaimed'], ...changed }]);
      return items();
    };
    const at5 = await claimed('one', { block_time: START + 5 * HOUR });
    expect(values(at5, 'feesClaimed')).toMatchObject({ 3: '1', 4: '7', 5: '12', 6: null });
    expect(values(at5, 'profitSwept')).toMatchObject({ 5: '5', 6: '5' });
    expect(reasonOf(at5[6]?.feesClaimed)).toContain('the logs of a transaction of this policy were cut');
    const before = await claimed('two', { block_time: START + 5 * HOUR - 1 });
    expect(values(before, 'feesClaimed')).toMatchObject({ 4: '7', 5: null, 6: null });
    const undecoded = await claimed('three', { block_time: START + 6 * HOUR - 1, missing: ['undecoded'] });
    expect(values(undecoded, 'feesClaimed')).toMatchObject({ 4: '7', 5: null, 6: null });
    expect(values(undecoded, 'profitSwept')).toMatchObject({ 5: '5', 6: null });
    expect(reasonOf(undecoded[5]?.feesClaimed)).toContain('were cut');
    expect(reasonOf(undecoded[6]?.feesClaimed)).toContain('does not decode');
    const unknown = await claimed('four', { block_time: null });
    expect(values(unknown, 'feesClaimed')).toMatchObject({ 3: '1', 4: null, 5: null, 6: null });
  });
});

test('the market cap is that of the pool at that time, in dollars at the price read in that hour', async () => {
  const pool = (hour: number, slot: number, row: object) =>
    at(hour, slot, 'pools', {
      ...{ address: poolKey('m', 'usd'), base_decimals: 6, quote_decimals: 6, supply: '1000000000000000' },
      ...{
        virtual_base: '1073025605596382',
        virtual_quote: '30000852951',
        global_config: key('curve'),
        ...row,
      },
    });
  await held.api.insert('account_hours', [
    pool(1, 1101, { status: 0 }),
    pool(4, 1401, { status: 2 }),
    at(1, 1102, 'curve_configs', { address: key('curve'), curve_type: 0 }),
  ]);
  const priceTime = START + 3 * HOUR - 60;
  const times = { read_at: String(priceTime * 1000), observed_at: isoTime(priceTime) };
  await held.api.insert('prices', [{ mint: key('usd'), source: 'catalogue', usd: '2', ...times }]);
  const all = await items();
  const { marketCap } = all[3] as CoinHistoryItem;
  expect(marketCap.quote).toMatchObject({ source: 'computed', value: expect.stringMatching(/^\d+$/) });
  const dollars = (BigInt(marketCap.quote.value as string) * 2n).toString().padStart(7, '0');
  expect(marketCap.usd.value).toBe(`${dollars.slice(0, -6)}.${dollars.slice(-6)}`);
  expect(reasonOf(all[4]?.marketCap.usd)).toContain('no USD price');
  expect(reasonOf(all[5]?.marketCap.quote)).toContain('off the curve');
  expect(reasonOf(all[1]?.marketCap.quote)).toContain('is not known before');
});

test('the market cap is absent where the curve’s config was not known yet; off the curve none is looked up', async () => {
  const pool = (hour: number, slot: number, row: object) =>
    at(hour, slot, 'pools', { address: poolKey('m', 'usd'), global_config: key('late curve'), ...row });
  await held.api.insert('account_hours', [
    pool(1, 1101, { status: 0 }),
    at(2, 1201, 'curve_configs', { address: key('late curve'), curve_type: 0 }),
  ]);
  const capAt = async (hour: number) => ((await items())[hour] as CoinHistoryItem).marketCap;
  expect(reasonOf((await capAt(2)).quote)).toBe(
    `${key('late curve')} is not known before the hour that ends at ${isoTime(START + 3 * HOUR)}`,
  );
  expect(reasonOf((await capAt(3)).quote)).toBe('the curve has no price: its reserve is empty');
  await held.api.insert('account_hours', [
    pool(4, 1401, { status: 2, global_config: key('config that nobody read') }),
  ]);
  expect(reasonOf((await capAt(5)).quote)).toContain('off the curve');
});

test('an unknown mint answers 404, an unknown step 400', async () => {
  const unknown = await held.api.get(`/coins/${key('nobody')}/history`);
  expect(unknown).toMatchObject({
    status: 404,
    body: { error: `no policy indexed for mint ${key('nobody')}` },
  });
  const bad = await held.api.get(`/coins/${key('m')}/history?step=week`);
  expect(bad).toMatchObject({ status: 400, body: { error: 'unknown step "week". Valid: hour, day' } });
});

test('a balance is absent until followed addresses are applied up to its hour, though the rest is further', async () => {
  const applied = { slot: '1610', block_time: START + 6 * HOUR + 1100, log_offset: '900' };
  const behind = { ...applied, followed: '1450', followed_time: START + 4 * HOUR + 1000 };
  await held.api.insert('applied', [appliedRow('accounts', 0, behind)]);
  const reasons = async () =>
    Object.entries(await items()).flatMap(([end, { bankroll }]) =>
      bankroll.reason === 'the index has not come to this moment' ? [end] : [],
    );
  expect(await reasons()).toEqual(['5', '6']);
  await held.api.insert('applied', [appliedRow('accounts', 0, { ...applied, log_offset: '901' })]);
  expect(await reasons()).toEqual([]);
});
