import { describe, expect, test } from 'vitest';
import { OWN_KEYS, OWN_SORTS, type RankingsResponse } from '../../../schemas/responses/rankings.ts';
import { isoMillis } from '../../../schemas/units.ts';
import { NOW } from '../support/api.ts';
import {
  appliedRow,
  curveRow,
  eventRow,
  gapRow,
  key,
  mintRow,
  policyRow,
  poolRow,
  signature,
  TIME,
  tokenAccountRow,
  totalsRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});
const rankings = async (query = '') => (await held.api.get<RankingsResponse>(`/rankings${query}`)).body;
const items = async (query = '') => (await rankings(query)).items;
const mints = async (query: string) => (await items(query)).map((item) => item.mint);
const price = (quote: string, usd: string | null) => ({
  mint: key(quote),
  source: 'catalogue',
  read_at: String(NOW),
  usd,
  observed_at: isoMillis(NOW - 1000),
});
const bankroll = (mint: string) => (policyRow(mint, 'usd') as Record<string, string>).bankroll as string;
const sorted = (...names: string[]) => names.map(key).sort();

describe('sorts', () => {
  /** Two quote assets whose raw amounts compare the other way round than their dollars. */
  async function twoAssets() {
    await held.api.insert('mints', [mintRow('usd', 6), mintRow('sol', 9)]);
    await held.api.insert('prices', [price('usd', '1'), price('sol', '1.5e2')]);
  }

  test('profit ranks by dollars: the raw amount decides only inside one asset', async () => {
    await twoAssets();
    await held.api.insert('policies', [
      policyRow('a', 'usd', { profit_swept: '149000000' }),
      policyRow('b', 'sol', { profit_swept: '1000000000' }),
      policyRow('c', 'usd', { profit_swept: '151000000' }),
      policyRow('d', 'none', { profit_swept: '18446744073709551615' }),
    ]);
    expect(await mints('?sort=profit')).toEqual([key('c'), key('b'), key('a'), key('d')]);
    expect(await mints('?sort=profit&order=asc')).toEqual([key('a'), key('b'), key('c'), key('d')]);
    expect(await mints(`?sort=profit&quote=${key('usd')}&order=asc`)).toEqual([key('a'), key('c')]);
    expect((await items('?sort=profit'))[3]?.usd.profit.reason).toContain('no USD price');
  });

  test.each(OWN_SORTS.filter((sort) => sort !== 'newest'))(
    '%s ranks by dollars across quote assets, and by amount within one that may have no price',
    async (sort) => {
      await twoAssets();
      const of = (amount: string) => ({ [OWN_KEYS[sort].column]: amount });
      // So that by amount they are in another order than by mint.
      const [less = '', more = ''] = ['d', 'e'].toSorted((x, y) => (key(x) < key(y) ? -1 : 1));
      await held.api.insert('policies', [
        policyRow('a', 'usd', of('149000000')),
        policyRow('b', 'sol', of('1000000000')),
        policyRow('c', 'usd', of('151000000')),
        policyRow(less, 'none', of('18446744073709551614')),
        policyRow(more, 'none', of('18446744073709551615')),
      ]);
      // Without a price there are no dollars: those come last, by mint.
      expect(await mints(`?sort=${sort}`)).toEqual(['c', 'b', 'a', less, more].map(key));
      expect(await mints(`?sort=${sort}&quote=${key('usd')}`)).toEqual([key('c'), key('a')]);
      expect(await mints(`?sort=${sort}&quote=${key('none')}`)).toEqual([key(more), key(less)]);
    },
  );

  test('with a quote filter raw amounts rank even without a price', async () => {
    await held.api.insert('policies', [
      policyRow('a', 'none', { profit_swept: '18446744073709551614' }),
      policyRow('b', 'none', { profit_swept: '18446744073709551615' }),
    ]);
    expect(await mints(`?sort=profit&quote=${key('none')}`)).toEqual([key('b'), key('a')]);
  });

  test('amounts one base unit apart rank correctly, also beyond what a double holds', async () => {
    await held.api.insert('mints', [mintRow('usd', 0)]);
    await held.api.insert('prices', [price('usd', '123456789.987654321')]);
    await held.api.insert('policies', [
      policyRow('a', 'usd', { profit_swept: '18446744073709551615' }),
      policyRow('b', 'usd', { profit_swept: '18446744073709551614' }),
      policyRow('c', 'usd', { profit_swept: '18446744073709551613' }),
    ]);
    expect(await mints('?sort=profit')).toEqual([key('a'), key('b'), key('c')]);
    expect(await mints('?sort=profit&order=asc')).toEqual([key('c'), key('b'), key('a')]);
  });

  test('policies with equal keys are ordered by mint in both directions', async () => {
    await twoAssets();
    await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd'), policyRow('c', 'usd')]);
    expect(await mints('?sort=profit')).toEqual(sorted('a', 'b', 'c'));
    expect(await mints('?sort=profit&order=asc')).toEqual(sorted('a', 'b', 'c'));
  });

  test('fees ranks by what was routed; a policy without events has a genuine zero', async () => {
    await twoAssets();
    await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd'), policyRow('c', 'usd')]);
    await held.api.insert('policy_totals', [
      totalsRow('b', { routed: '6' }),
      totalsRow('b', { routed: '5', log_partition: 1 }),
      totalsRow('c', { routed: '10' }),
    ]);
    expect(await mints('?sort=fees')).toEqual([key('b'), key('c'), key('a')]);
    expect(await mints('?sort=fees&order=asc')).toEqual([key('a'), key('c'), key('b')]);
  });

  test('fees of a policy with an incomplete transaction are absent and last', async () => {
    await twoAssets();
    await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
    await held.api.insert('policy_totals', [
      totalsRow('a', { routed: '6' }),
      totalsRow('b', { routed: '5' }),
    ]);
    const { address } = policyRow('a', 'usd') as Record<string, string>;
    await held.api.insert('incomplete_transactions', [
      { signature: signature('cut'), slot: '5', block_time: TIME, policies: [address], reason: 'cut' },
    ]);
    for (const order of ['asc', 'desc']) {
      const rows = await items(`?sort=fees&order=${order}`);
      expect(rows.map((row) => row.mint)).toEqual([key('b'), key('a')]);
      expect(rows[1]).toMatchObject({ fees: { absent: true }, usd: { fees: { absent: true } } });
    }
  });

  test('while history is incomplete all fees are absent and rows are ordered by mint', async () => {
    await twoAssets();
    await held.api.insert('gaps', [gapRow('5')]);
    await held.api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
    await held.api.insert('policy_totals', [
      totalsRow('a', { routed: '6' }),
      totalsRow('b', { routed: '5' }),
    ]);
    const rows = await items('?sort=fees');
    expect(rows.map((row) => row.mint)).toEqual(sorted('a', 'b'));
    for (const row of rows)
      expect(row).toMatchObject({ fees: { absent: true }, eventsLast24h: { absent: true } });
  });

  test('burned ranks by paid_to_holders, not by tokens_burned', async () => {
    await twoAssets();
    await held.api.insert('policies', [
      policyRow('a', 'usd', { paid_to_holders: '1000000', tokens_burned: '9' }),
      policyRow('b', 'usd', { paid_to_holders: '2000000', tokens_burned: '1' }),
    ]);
    expect(await mints('?sort=burned')).toEqual([key('b'), key('a')]);
  });

  test('bankroll ranks by the balance; a missing account is absent and last', async () => {
    await twoAssets();
    await held.api.insert(
      'policies',
      ['a', 'b', 'c', 'd'].map((name) => policyRow(name, 'usd')),
    );
    await held.api.insert('token_accounts', [
      tokenAccountRow(bankroll('a'), '0'),
      tokenAccountRow(bankroll('b'), '5'),
      tokenAccountRow(bankroll('c'), '50', { exists: 0 }),
    ]);
    expect(await mints('?sort=bankroll')).toEqual([key('b'), key('a'), ...sorted('c', 'd')]);
    expect(await mints('?sort=bankroll&order=asc')).toEqual([key('a'), key('b'), ...sorted('c', 'd')]);
  });

  test('marketCap ranks pools on the curve exactly, for each curve type; other policies are last', async () => {
    await twoAssets();
    const names = ['product', 'fixed', 'linear', 'graduated', 'none'];
    await held.api.insert(
      'policies',
      names.map((name) => policyRow(name, 'usd')),
    );
    const curves = { product: 0, fixed: 1, linear: 2 } as const;
    await held.api.insert(
      'curve_configs',
      Object.entries(curves).map(([name, curve_type]) => curveRow({ address: key(name), curve_type })),
    );
    await held.api.insert('pools', [
      poolRow('product', 'usd', {
        global_config: key('product'),
        real_base: '53025605596382',
        real_quote: '1000000000',
      }),
      poolRow('fixed', 'usd', {
        global_config: key('fixed'),
        virtual_base: '1000000000000000',
        virtual_quote: '40000000000',
      }),
      poolRow('linear', 'usd', {
        global_config: key('linear'),
        virtual_base: '18446744073709',
        real_base: '25000000',
      }),
      poolRow('graduated', 'usd', {
        global_config: key('fixed'),
        status: 2,
        virtual_quote: '900000000000000',
      }),
    ]);
    const rows = await items('?sort=marketCap');
    const caps = rows.map((row) => [row.mint, row.marketCap.quote.value]);
    const product =
      (1_000_000_000_000_000n * 31_000_852_951n) / (1_073_025_605_596_382n - 53_025_605_596_382n);
    const linear = (1_000_000_000_000_000n * 18_446_744_073_709n * 25_000_000n) / 2n ** 64n;
    expect(caps.slice(0, 3)).toEqual(
      [
        [key('fixed'), 40_000_000_000n],
        [key('product'), product],
        [key('linear'), linear],
      ]
        .sort((x, y) => ((x[1] as bigint) < (y[1] as bigint) ? 1 : -1))
        .map(([mint, cap]) => [mint, String(cap)]),
    );
    expect(caps.slice(3).map(([mint]) => mint)).toEqual(sorted('graduated', 'none'));
    expect(await mints('?sort=marketCap&order=asc')).toEqual([
      ...caps
        .slice(0, 3)
        .map(([mint]) => mint)
        .reverse(),
      ...sorted('graduated', 'none'),
    ]);
  });

  test('activity counts events of the last 24 hours once each', async () => {
    await held.api.insert(
      'policies',
      ['a', 'b', 'c'].map((name) => policyRow(name, 'usd')),
    );
    const old = { block_time: Math.floor(NOW / 1000) - 86_400 };
    const events = [
      eventRow('a', 'Routed', 1),
      eventRow('b', 'Routed', 1),
      eventRow('b', 'PolicyUpdated', 2, { actor: 'authority' }),
      eventRow('a', 'Routed', 3, old),
      eventRow('a', 'Routed', 4, old),
    ];
    await held.api.insert('events', events);
    await held.api.insert('events', events);
    const rows = await items('?sort=activity');
    expect(rows.map((row) => [row.mint, row.eventsLast24h.value])).toEqual([
      [key('b'), 2],
      [key('a'), 1],
      [key('c'), 0],
    ]);
    expect(await mints('?sort=activity&order=asc')).toEqual([key('c'), key('a'), key('b')]);
  });

  test('an undated event that may be of the last 24 hours makes the count absent and last', async () => {
    await held.api.insert(
      'policies',
      ['a', 'b', 'c'].map((name) => policyRow(name, 'usd')),
    );
    const undated = { ...eventRow('b', 'Routed', 3), block_time: null };
    await held.api.insert('events', [eventRow('a', 'Routed', 1), eventRow('b', 'Routed', 2), undated]);
    const { slot, signature, position } = undated as Record<string, unknown>;
    await held.api.insert('undated_events', [{ slot, signature, position }]);
    for (const order of ['desc', 'asc']) {
      const rows = await items(`?sort=activity&order=${order}`);
      expect(rows.at(-1)).toMatchObject({
        mint: key('b'),
        eventsLast24h: { absent: true, reason: expect.stringContaining('is not known') },
      });
    }
  });
});
