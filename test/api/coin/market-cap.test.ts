import { describe, expect, test } from 'vitest';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import { isoMillis, isoTime } from '../../../schemas/units.ts';
import { NOW } from '../support/api.ts';
import { curveRow, key, mintRow, policyRow, poolKey, poolRow, TIME } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});
const ASOF = isoTime(TIME);
const mint = key('coin');
const coin = async () => (await held.api.get<CoinResponse>(`/coins/${mint}`)).body;
const price = (change: object = {}) => ({
  mint: key('usd'),
  source: 'catalogue',
  read_at: String(NOW - 1000),
  usd: '2.5',
  observed_at: isoMillis(NOW - 60_000),
  ...change,
});

describe('the market cap', () => {
  const cap = async () => (await coin()).marketCap;

  test('before the pool is read its address is served, and both figures are absent with the reason', async () => {
    const block = await cap();
    expect(block).toMatchObject({ pool: poolKey('coin', 'usd'), poolStatus: null, priceQuotePerBase: null });
    expect(block.quote.reason).toContain('not read yet');
    expect(block.usd.reason).toBe('marketCap.quote is absent, so it has no dollar value');
  });

  test('without an account at the pool’s address it is absent with that reason', async () => {
    await held.api.insert('pools', [poolRow('coin', 'usd', { exists: 0 })]);
    const block = await cap();
    expect(block.poolStatus).toBeNull();
    expect(block.quote).toMatchObject({
      value: null,
      absent: true,
      reason: `no account at ${poolKey('coin', 'usd')}`,
    });
  });

  test('on the curve it is exact, in dollars rounded down to six digits, with the time of its oldest input', async () => {
    await held.api.insert('pools', [poolRow('coin', 'usd')]);
    await held.api.insert('curve_configs', [curveRow()]);
    expect((await cap()).usd.reason).toContain('no USD price');
    await held.api.insert('mints', [mintRow('usd', 6)]);
    await held.api.insert('prices', [price({ usd: '0.9997' })]);
    const quote = (1_000_000_000_000_000n * 30_000_852_951n) / 1_073_025_605_596_382n;
    const micro = (quote * 9997n) / 10_000n;
    const text = micro.toString().padStart(7, '0');
    const block = await cap();
    expect(block).toMatchObject({
      quote: { value: quote.toString(), source: 'computed', asOf: ASOF },
      usd: { value: `${text.slice(0, -6)}.${text.slice(-6)}`, source: 'computed', asOf: ASOF },
      poolStatus: 0,
    });
    expect(block.priceQuotePerBase).toBeCloseTo(30_000_852_951 / 1_073_025_605_596_382, 12);
  });

  test('without the decimals of the quote mint only the dollar figure is absent', async () => {
    await held.api.insert('pools', [poolRow('coin', 'usd')]);
    await held.api.insert('curve_configs', [curveRow()]);
    await held.api.insert('prices', [price()]);
    const block = await cap();
    expect(block.quote.absent).toBeUndefined();
    expect(block.usd.reason).toBe(
      'the decimals of the quote mint are not known: it is not read yet, or no mint stands there',
    );
  });

  test.each([1, 2])('at pool status %i it is absent and the status is served', async (status) => {
    await held.api.insert('pools', [poolRow('coin', 'usd', { status })]);
    await held.api.insert('curve_configs', [curveRow()]);
    const block = await cap();
    expect(block.poolStatus).toBe(status);
    expect(block.quote.reason).toContain('not implemented');
  });

  test('it is absent for a curve whose config is not read, and for one whose reserve is empty', async () => {
    await held.api.insert('pools', [poolRow('coin', 'usd', { virtual_base: '5', real_base: '5' })]);
    expect((await cap()).quote.reason).toContain('config is not read yet');
    await held.api.insert('curve_configs', [curveRow()]);
    expect((await cap()).quote.reason).toContain('no price');
  });
});
