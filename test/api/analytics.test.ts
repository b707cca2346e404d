import { beforeEach, describe, expect, test } from 'vitest';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import { isoTime } from '../../schemas/units.ts';
import { SETTINGS } from './support/api.ts';
import {
  appliedRow,
  configRow,
  dayRow,
  gapRow,
  key,
  mintRow,
  policyRow,
  signature,
  TIME,
  venueAccountRow,
} from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi();
const ASOF = isoTime(TIME);
const analytics = async () => (await held.api.get<AnalyticsResponse>('/analytics')).body;

describe('GET /analytics', () => {
  beforeEach(async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
  });

  test('is printed as indented JSON, with days and without', async () => {
    const printed = async () => (await fetch(`${held.api.url}/analytics`)).text();
    for (const rows of [[], [dayRow('2026-09-20', 'usd'), dayRow('2026-09-21', 'usd')]]) {
      await held.api.insert('quote_days', rows);
      const text = await printed();
      expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
      expect((JSON.parse(text) as AnalyticsResponse).revenueByDayTimeSeries).toHaveLength(rows.length);
    }
  });

  test('protocolConfig shows the stored configuration, with maxRemoteStaleness as a string', async () => {
    await held.api.insert('protocol_config', [configRow()]);
    expect((await analytics()).protocolConfig).toEqual({
      paused: false,
      protocolFeeBps: 500,
      maxBankrollBps: 9000,
      maxRemoteStaleness: '120',
      maxDeviationBps: 2000,
      minRiskForClass: [0, 0, 0, 10, 80, 80, 0, 0],
      launchpadProgram: SETTINGS.launchpadProgramId,
      ammProgram: key('amm'),
      source: 'chain:ProtocolConfig account',
      asOf: ASOF,
    });
  });

  test('until ProtocolConfig is read, its programs are those of the settings, and its source says so', async () => {
    expect((await analytics()).protocolConfig).toEqual({
      ...{ paused: null, protocolFeeBps: null, maxBankrollBps: null, maxRemoteStaleness: null },
      ...{ maxDeviationBps: null, minRiskForClass: null, asOf: null },
      launchpadProgram: SETTINGS.launchpadProgramId,
      ammProgram: SETTINGS.ammProgramId,
      source:
        'chain:ProtocolConfig account, which is not known yet: the programs are those of LAUNCHPAD_PROGRAM_ID and AMM_PROGRAM_ID',
    });
  });

  test('totals count policies and sum counters per quote asset without overflow', async () => {
    const max = '18446744073709551615';
    await held.api.insert('mints', [mintRow('usd', 6, { name: 'D', symbol: 'USD', uri: '' })]);
    await held.api.insert('policies', [
      policyRow('a', 'usd', { fees_claimed: max, mode: 'Agent', locked: 1, block_time: TIME - 9 }),
      policyRow('b', 'usd', { fees_claimed: max, paused: 1 }),
      policyRow('c', 'sol'),
    ]);
    const { protocolTotals } = await analytics();
    expect(protocolTotals).toMatchObject({
      policyCount: 3,
      agentPolicyCount: 1,
      passivePolicyCount: 2,
      lockedPolicyCount: 1,
      pausedPolicyCount: 1,
    });
    const sum = (value: string, field: string) => ({
      value,
      source: `chain:Policy.${field}`,
      asOf: isoTime(TIME - 9),
    });
    expect(protocolTotals.byQuote[0]).toEqual({
      quoteMint: key('usd'),
      quoteSymbol: 'USD',
      decimals: 6,
      policyCount: 2,
      feesClaimed: sum('36893488147419103230', 'fees_claimed'),
      protocolFees: sum('24', 'protocol_fees'),
      routedToLp: sum('26', 'routed_to_lp'),
      routedToBankroll: sum('28', 'routed_to_bankroll'),
      profitSwept: sum('30', 'profit_swept'),
      paidToHolders: sum('32', 'paid_to_holders'),
      creditSpent: sum('36', 'credit_spent'),
    });
    expect(protocolTotals.byQuote[1]).toMatchObject({
      quoteMint: key('sol'),
      quoteSymbol: null,
      decimals: null,
    });
  });

  test('bridge flow shows what was bridged out beside the attested equity per venue, without revoked accounts', async () => {
    const usd = { bridged_out: '100', remote_equity: '70', remote_asof: TIME + 5 };
    await held.api.insert('venue_accounts', [
      venueAccountRow('a', 'p1', usd),
      venueAccountRow('b', 'p2', { ...usd, bridged_out: '1', remote_asof: TIME + 3 }),
      venueAccountRow('b', 'p3', { ...usd, revoked: 1 }),
    ]);
    const { perVenue } = (await analytics()).bridgeFlow;
    expect(perVenue.find(({ venue }) => venue === 'perp_x')).toEqual({
      venue: 'perp_x',
      accountCount: 2,
      bridgedOut: { value: '101', source: 'chain:VenueAccount.bridged_out', asOf: ASOF },
      attestedEquity: { value: '140', source: 'chain:VenueAccount.remote_equity', asOf: isoTime(TIME + 3) },
      gap: { value: '-39', source: 'computed', asOf: ASOF },
    });
    expect(perVenue.find(({ venue }) => venue === 'options_x')).toMatchObject({
      accountCount: 0,
      gap: { value: '0' },
    });
  });

  test('bridge flow’s gap is absent if decimals are unknown or differ, its equity if an account lacks attestation', async () => {
    await held.api.insert('mints', [mintRow('usd', 6), mintRow('sol', 9), mintRow('eur', 6, { exists: 0 })]);
    const account = (name: string, asset: string) =>
      venueAccountRow('a', name, { asset_mint: key(asset), remote_asof: TIME, bridged_out: '5' });
    await held.api.insert('venue_accounts', [account('p1', 'usd'), account('p2', 'eur')]);
    const perp = async () => (await analytics()).bridgeFlow.perVenue[0];
    expect((await perp())?.gap.reason).toBe(
      'the decimals of an asset of these accounts are not known: it is not read yet, or no mint stands there',
    );
    await held.api.insert('mints', [mintRow('eur', 6, { version: String(2n ** 100n) })]);
    expect((await perp())?.gap.value).toBe('10');
    await held.api.insert('venue_accounts', [account('p3', 'sol')]);
    expect((await perp())?.gap).toMatchObject({
      absent: true,
      reason: 'the decimals of the summed assets differ',
    });
    await held.api.insert('venue_accounts', [venueAccountRow('a', 'p4')]);
    expect((await perp())?.attestedEquity).toMatchObject({
      absent: true,
      reason: '1 of 4 accounts have no attestation yet',
    });
    expect((await perp())?.bridgedOut.value).toBe('15');
  });

  test('the day series sums over quotes and log partitions, oldest day first, and also shows each quote', async () => {
    await held.api.insert('mints', [mintRow('usd', 6)]);
    await held.api.insert('quote_days', [
      dayRow('2026-09-21', 'usd'),
      dayRow('2026-09-21', 'usd', { log_partition: 1, profit: '40', last_event: TIME + 4 }),
      dayRow('2026-09-21', 'sol', { profit: '18446744073709551616' }),
      dayRow('2026-09-20', ''),
      dayRow('2026-09-19', 'usd', { event_count: '0' }),
    ]);
    const series = (await analytics()).revenueByDayTimeSeries;
    expect(series.map((entry) => [entry.day, entry.byQuote.length])).toEqual([
      ['2026-09-20', 0],
      ['2026-09-21', 2],
    ]);
    const sum = (value: string, source: string) => ({ value, source, asOf: isoTime(TIME + 4) });
    expect(series[1]).toMatchObject({
      routedToLp: sum('3', 'indexer:Routed events'),
      routedToBankroll: sum('6', 'indexer:Routed events'),
      protocolCut: sum('9', 'indexer:Routed events'),
      profitSwept: sum('18446744073709551660', 'indexer:ProfitSwept events'),
      spentOnBuybacks: sum('15', 'indexer:BuybackBurned events'),
    });
    const usd = series[1]?.byQuote.find((entry) => entry.quoteMint === key('usd'));
    expect(usd).toMatchObject({ decimals: 6, profitSwept: { value: '44' } });
  });

  test('the figures of a day with an incomplete transaction are absent, those of other days are present', async () => {
    const day = isoTime(TIME).slice(0, 10);
    await held.api.insert('quote_days', [dayRow(day, 'usd'), dayRow('2020-01-01', 'usd')]);
    const cut = { signature: signature('cut'), slot: '5', policies: [], reason: 'cut' };
    await held.api.insert('incomplete_transactions', [{ ...cut, block_time: TIME }]);
    const [before, ofDay] = (await analytics()).revenueByDayTimeSeries;
    expect(before?.profitSwept.value).toBe('4');
    expect(ofDay?.profitSwept).toMatchObject({ value: null, absent: true });
    expect(ofDay?.byQuote[0]?.routedToLp).toMatchObject({ absent: true });
  });

  test('a day with only incomplete transactions is listed, and the figures that may lack amounts are absent', async () => {
    await held.api.insert('quote_days', [dayRow('2026-09-20', 'usd'), dayRow('2026-09-22', 'usd')]);
    const cut = { slot: '5', policies: [key('policy of m')], reason: 'cut' };
    const noon = Date.UTC(2026, 8, 21, 12) / 1000;
    await held.api.insert('incomplete_transactions', [
      { ...cut, signature: signature('one'), missing: ['Routed'], block_time: noon },
      { ...cut, signature: signature('two'), missing: ['Routed.toLp', 'CreditNoted'], block_time: noon + 1 },
      { ...cut, signature: signature('three'), missing: ['Routed'], block_time: noon + 86_400 },
    ]);
    const series = (await analytics()).revenueByDayTimeSeries;
    expect(series.map(({ day }) => day)).toEqual(['2026-09-20', '2026-09-21', '2026-09-22']);
    expect(series[1]).toMatchObject({
      routedToLp: { value: null, absent: true },
      protocolCut: { value: null, absent: true },
      profitSwept: { value: '0', asOf: isoTime(TIME + 400) },
      byQuote: [],
    });
    expect(series[2]?.byQuote).toMatchObject([{ routedToLp: { absent: true }, profitSwept: { value: '4' } }]);
  });

  test('while history is not complete the days are listed and their figures absent', async () => {
    await held.api.insert('quote_days', [dayRow('2026-09-21', 'usd')]);
    await held.api.insert('gaps', [gapRow('5')]);
    expect((await analytics()).revenueByDayTimeSeries).toMatchObject([
      { day: '2026-09-21', routedToLp: { absent: true } },
    ]);
  });
});
