import { describe, expect, test } from 'vitest';
import type { LoopResponse } from '../../../schemas/responses/coin/loop.ts';
import type { CoinHistoryResponse } from '../../../schemas/responses/history.ts';
import { isoTime } from '../../../schemas/units.ts';
import {
  appliedRow,
  key,
  policyRow,
  TIME,
  tokenAccountRow,
  totalsRow,
  venueAccountRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
  await api.insert('applied', [
    appliedRow('transactions', 0),
    appliedRow('accounts', 0, { slot: '2100', block_time: TIME + 450 }),
  ]);
});
const mint = key('coin');
const ASOF = isoTime(TIME);
const CLAIMS = 'indexer:fee_claims events';
const figure = (value: string, source: string, asOf: string) => ({ value, source, asOf });
const read = async <T>(path: string) => (await held.api.get<T>(`/coins/${mint}${path}`)).body;
/** Slot and version of rows that replace older ones. */
const later = { slot: '1001', version: String(1001n << 64n) };
const loop = () => read<LoopResponse>('/loop');

describe('loop', () => {
  test('a sum of events without block times has no time, an empty sum has that of the marker', async () => {
    await held.api.insert('policy_totals', [
      totalsRow('coin', { protocol_cut: '30', routed_to_lp: '700', last_routed: null }),
    ]);
    const { step2_routed, step6_buyback } = await loop();
    expect(step2_routed).toMatchObject({
      protocolCut: { value: '30', asOf: null },
      toLp: { value: '700', asOf: null },
    });
    expect(step2_routed.toLp).not.toHaveProperty('absent');
    expect(step6_buyback.spent).toMatchObject({ value: '0', asOf: isoTime(TIME + 400) });
  });

  test('every step is served in order, each figure with its source and time', async () => {
    await held.api.insert('policy_totals', [
      totalsRow('coin', {
        fees_quote: '1',
        fees_base: '2',
        last_claim: TIME + 1,
        protocol_cut: '3',
        routed_to_lp: '4',
        routed_to_bankroll: '5',
        last_routed: TIME + 2,
        profit_to_holders: '6',
        profit_to_lp: '7',
        last_swept: TIME + 3,
        buyback_spent: '8',
        buyback_burned: '9',
        last_buyback: TIME + 4,
      }),
    ]);
    const bankroll = (policyRow('coin', 'usd') as Record<string, string>).bankroll as string;
    await held.api.insert('token_accounts', [tokenAccountRow(bankroll, '77')]);
    const { step3_lpCompounded, ...body } = await loop();
    const [claimed, routed, swept, bought] = [1, 2, 3, 4].map((seconds) => isoTime(TIME + seconds)) as [
      string,
      string,
      string,
      string,
    ];
    expect(Object.keys(await loop())).toEqual([
      'mint',
      'step1_feesClaimed',
      'step2_routed',
      'step3_lpCompounded',
      'step4_deployed',
      'step5_profit',
      'step6_buyback',
      'credit',
    ]);
    expect(body).toEqual({
      mint,
      step1_feesClaimed: { quoteLeg: figure('1', CLAIMS, claimed), baseLeg: figure('2', CLAIMS, claimed) },
      step2_routed: {
        protocolCut: figure('3', 'indexer:Routed events', routed),
        toLp: figure('4', 'indexer:Routed events', routed),
        toBankroll: figure('5', 'indexer:Routed events', routed),
      },
      step4_deployed: {
        local: figure('0', 'chain:getTokenAccountBalance', ASOF),
        remote: figure('0', 'chain:VenueAccount.remote_equity', ASOF),
        bankrollUnspent: figure('77', 'chain:getTokenAccountBalance', ASOF),
      },
      step5_profit: {
        hwm: figure('19', 'chain:Policy.hwm', ASOF),
        totalSwept: figure('15', 'chain:Policy.profit_swept', ASOF),
        toHoldersStaged: figure('6', 'indexer:ProfitSwept events', swept),
        toLpFromProfit: figure('7', 'indexer:ProfitSwept events', swept),
      },
      step6_buyback: {
        spent: figure('8', 'indexer:BuybackBurned events', bought),
        burned: figure('9', 'indexer:BuybackBurned events', bought),
      },
      credit: {
        spent: figure('18', 'chain:Policy.credit_spent', ASOF),
        returnPerCredit: figure('0.833333', 'computed', ASOF),
      },
    });
    expect(step3_lpCompounded).toMatchObject({ value: null, absent: true });
    expect(step3_lpCompounded.reason).toContain('compound_lp emits no event');
  });

  test('the deployed sums count unrevoked accounts and have the time of the oldest state', async () => {
    const local = { kind: 'Local', asset_class: 1 };
    await held.api.insert('policies', [policyRow('coin', 'usd', { ...later, venue_count: 4 })]);
    await held.api.insert('venue_accounts', [
      venueAccountRow('coin', 'l1', local),
      venueAccountRow('coin', 'l2', local),
      venueAccountRow('coin', 'l3', { ...local, revoked: 1 }),
      venueAccountRow('coin', 'r1', { remote_equity: '5', remote_asof: TIME + 3 }),
      venueAccountRow('coin', 'r2', { remote_equity: '6', remote_asof: TIME + 2 }),
      venueAccountRow('coin', 'r3', { remote_equity: '9', remote_asof: TIME, revoked: 1 }),
    ]);
    await held.api.insert('token_accounts', [tokenAccountRow(key('l1'), '10')]);
    expect((await loop()).step4_deployed.local).toMatchObject({
      absent: true,
      reason: `not read yet: ${key('l2')}`,
    });
    await held.api.insert('token_accounts', [tokenAccountRow(key('l2'), '30', { block_time: TIME - 5 })]);
    const { local: sum, remote } = (await loop()).step4_deployed;
    expect(sum).toEqual(figure('40', 'chain:getTokenAccountBalance', isoTime(TIME - 5)));
    expect(remote).toEqual(figure('11', 'chain:VenueAccount.remote_equity', isoTime(TIME + 2)));
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'r2', { ...later, remote_asof: 0 })]);
    expect((await loop()).step4_deployed.remote).toMatchObject({ value: null, absent: true });
  });

  test('the deployed sum is absent if a token account is of another mint than it is registered with', async () => {
    await held.api.insert('policies', [policyRow('coin', 'usd', { ...later, venue_count: 2 })]);
    await held.api.insert('venue_accounts', [
      venueAccountRow('coin', 'l1', { kind: 'Local', asset_class: 1 }),
      venueAccountRow('coin', 'l2', { kind: 'Local', asset_class: 1 }),
    ]);
    await held.api.insert('token_accounts', [
      tokenAccountRow(key('l1'), '10'),
      tokenAccountRow(key('l2'), '30', { mint: key('own') }),
    ]);
    expect((await loop()).step4_deployed.local).toMatchObject({
      value: null,
      reason: `the token account ${key('l2')} is of ${key('own')}, not of ${key('usd')}, which it is registered with`,
    });
    await held.api.insert('token_accounts', [tokenAccountRow(key('l2'), '30', later)]);
    expect((await loop()).step4_deployed.local).toMatchObject({ value: '40' });
    // The program counts balances in the quote asset, and ignores the registered asset.
    const slip = { kind: 'Local', asset_class: 1, asset_mint: key('slip'), ...later };
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'l2', slip)]);
    expect((await loop()).step4_deployed.local).toMatchObject({ value: '40' });
  });

  test('accounts summed in another asset than the quote are listed; history lists those that may have been', async () => {
    let version = 3_000n;
    const newer = () => ({ version: String(++version << 64n), slot: String(version) });
    const isOf = async (of: { registered: string; mint?: string; revoked?: 0 | 1 }) => {
      const { registered, mint, revoked = 0 } = of;
      await held.api.insert('policies', [policyRow('coin', 'usd', { ...newer(), venue_count: 2 - revoked })]);
      await held.api.insert('venue_accounts', [
        venueAccountRow('coin', 'l1', { kind: 'Local', ...newer() }),
        venueAccountRow('coin', 'l2', { kind: 'Local', ...newer(), asset_mint: key(registered), revoked }),
      ]);
      await held.api.insert('token_accounts', [
        tokenAccountRow(key('l1'), '10', newer()),
        ...(mint === undefined
          ? []
          : [tokenAccountRow(key('l2'), '30', { ...newer(), mint: mint === '' ? '' : key(mint) })]),
      ]);
      const { local, localOfOtherAssets: summed } = (await loop()).step4_deployed;
      const history = await read<CoinHistoryResponse>('/history?step=hour');
      const passed = await read<CoinHistoryResponse>(`/history?from=${TIME}&to=${TIME + 3_600}`);
      expect(passed.localMaybeOfOtherAssets).toEqual(history.localMaybeOfOtherAssets);
      return { local: local.value, summed, maybe: history.localMaybeOfOtherAssets };
    };
    const l2 = [key('l2')];
    expect(await isOf({ registered: 'usd', mint: 'usd' })).toEqual({ local: '40' });
    // An account whose mint is not known counts as one of its registered asset.
    expect(await isOf({ registered: 'usd', mint: '' })).toEqual({ local: '40' });
    expect(await isOf({ registered: 'slip', mint: '' })).toEqual({ local: '40', summed: l2, maybe: l2 });
    expect(await isOf({ registered: 'slip', mint: 'slip' })).toEqual({ local: '40', summed: l2, maybe: l2 });
    expect(await isOf({ registered: 'slip', mint: 'usd' })).toEqual({ local: '40', maybe: l2 });
    expect(await isOf({ registered: 'usd', mint: 'own' })).toEqual({ local: null, summed: l2, maybe: l2 });
    // A revoked account is in no present sum; it was in earlier ones.
    const revoked = { registered: 'slip', mint: 'slip', revoked: 1 as const };
    expect(await isOf(revoked)).toEqual({ local: '10', maybe: l2 });
    expect(Object.keys((await loop()).step4_deployed)).toEqual(['local', 'remote', 'bankrollUnspent']);
  });

  test.each([
    ['knows one account too few', { venue_count: 3 }],
    ['knows none', { venue_count: 3 }],
    ['has not heard of a revocation', { venue_count: 1 }],
  ])('the deployed sums are absent where the index %s', async (which, change) => {
    await held.api.insert('policies', [policyRow('coin', 'usd', { ...later, ...change })]);
    const known = which === 'knows none' ? [] : ['one', 'another'];
    await held.api.insert(
      'venue_accounts',
      known.map((name) => venueAccountRow('coin', name, { remote_asof: TIME })),
    );
    const reason = `${known.length} of ${change.venue_count} venue accounts are known`;
    const { local, remote, bankrollUnspent } = (await loop()).step4_deployed;
    for (const sum of [local, remote]) expect(sum).toMatchObject({ value: null, absent: true, reason });
    expect(bankrollUnspent.reason).not.toBe(reason);
    const now = (await read<CoinHistoryResponse>('/history?step=hour')).items.at(-1);
    for (const sum of [now?.deployed, now?.attestedEquity])
      expect(sum).toMatchObject({ value: null, absent: true, reason });
  });

  test('the return per credit is absent while no credit is spent', async () => {
    await held.api.truncate('policies');
    await held.api.insert('policies', [policyRow('coin', 'usd', { credit_spent: '0' })]);
    expect((await loop()).credit).toMatchObject({
      spent: { value: '0' },
      returnPerCredit: { value: null, absent: true },
    });
  });
});
