import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AnalyticsResponse } from '../../schemas/responses/analytics.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import type { ModelsResponse, OriginsResponse, QuotesResponse } from '../../schemas/responses/registries.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { isoMillis, isoTime } from '../../schemas/units.ts';
import { NOW, SETTINGS, startApi, type TestApi } from './support/api.ts';
import {
  appliedRow,
  configRow,
  eventRow,
  gapRow,
  key,
  mintRow,
  modelRow,
  originRow,
  policyRow,
  signature,
  TIME,
  tokenAccountRow,
  venueAccountRow,
} from './support/rows.ts';
import { emptyStore } from './support/store.ts';

let engine: Awaited<ReturnType<typeof emptyStore>>;
let api: TestApi;
const ASOF = isoTime(TIME);
const TABLES = await tables();

async function tables(): Promise<string[]> {
  engine = await emptyStore();
  const rows = await engine.store.query<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'migrations'",
  );
  return rows.map((row) => row.name);
}

beforeAll(async () => {
  api = await startApi(engine.store);
});
afterAll(async () => {
  await api.close();
  await engine.close();
});
beforeEach(async () => {
  await api.truncate(...TABLES);
  api.at(NOW);
});

const status = async () => (await api.get<StatusResponse>('/status')).body;
const analytics = async () => (await api.get<AnalyticsResponse>('/analytics')).body;
const escrow = (mint: string) => (policyRow(mint, 'usd') as Record<string, string>).quote_escrow as string;

describe('status', () => {
  test('an empty index says of everything that it is not known', async () => {
    const body = await status();
    expect(body.protocol).toEqual({ paused: null, source: 'chain:ProtocolConfig account', asOf: null });
    expect(body.indexer).toMatchObject({
      lastProcessedSignature: null,
      lastProcessedSlot: null,
      lastProcessedBlockTime: null,
      cursorUpdatedAt: null,
      history: { complete: false, fromSlot: null },
    });
    expect(body.keeper).toMatchObject({ lastActionAt: null, last24h: [] });
    expect(body.attestor.perVenue).toMatchObject([
      { venue: 'perp_x', value: null, absent: true },
      { venue: 'options_x', value: null, absent: true },
    ]);
    expect(Object.keys(body.venues)).toEqual(['launch_x', 'amm_x', 'perp_x', 'options_x']);
    expect(body.venues.perp_x).toMatchObject({ absent: true, source: 'venue poller' });
  });

  test('the pause of the protocol comes from its config', async () => {
    await api.insert('protocol_config', [configRow({ paused: 1 })]);
    expect((await status()).protocol).toEqual({
      paused: true,
      source: 'chain:ProtocolConfig account',
      asOf: ASOF,
    });
  });

  test('the slot is the lowest marker of all partitions, the signature the newest', async () => {
    const other = { slot: '2100', block_time: TIME + 450, applied_at: (TIME + 460) * 1000 };
    await api.insert('applied', [
      appliedRow('transactions', 0),
      appliedRow('transactions', 1, {
        ...other,
        last_signature: signature('newer'),
        last_signature_slot: '2000',
        last_signature_index: 4,
      }),
      appliedRow('accounts', 0, { ...other, last_signature: null, last_signature_slot: '0' }),
    ]);
    expect((await status()).indexer).toMatchObject({
      lastProcessedSignature: signature('newer'),
      lastProcessedSlot: '2000',
      lastProcessedBlockTime: isoTime(TIME + 400),
      cursorUpdatedAt: isoMillis((TIME + 460) * 1000),
      history: { complete: true, fromSlot: '0', source: 'stream' },
      incompleteTransactions: { value: 0 },
      deadLetters: { value: 0 },
    });
  });

  test('history says how far back it is whole', async () => {
    await api.insert('applied', [appliedRow('transactions', 0)]);
    await api.insert('gaps', [gapRow('999')]);
    expect((await status()).indexer.history).toEqual({ complete: false, fromSlot: '1000', source: 'rpc' });
    await api.insert('gaps', [gapRow('499', { log_offset: '2' })]);
    expect((await status()).indexer.history).toEqual({ complete: false, fromSlot: '500', source: 'rpc' });
    await api.insert('gaps', [gapRow('0', { log_offset: '3', closed: 1 })]);
    expect((await status()).indexer.history).toEqual({ complete: true, fromSlot: '0', source: 'rpc' });
  });

  test('incomplete transactions and dead letters are counted', async () => {
    const cut = { slot: '5', block_time: TIME, policies: [], reason: 'cut' };
    await api.insert(
      'incomplete_transactions',
      ['a', 'b'].map((name) => ({ ...cut, signature: signature(name) })),
    );
    const letter = {
      what: 'event',
      at: 'x',
      reason: 'r',
      source: 'rpc',
      slot: null,
      byte_length: '0',
      bytes: '',
    };
    await api.insert(
      'dead_letters',
      [1, 2].map((time) => ({ ...letter, id: 'one', read_at: time })),
    );
    const { indexer } = await status();
    expect([indexer.incompleteTransactions.value, indexer.deadLetters.value]).toEqual([2, 1]);
  });

  test('the keeper counts only kinds whose actor is the keeper, over the last 24 hours', async () => {
    await api.insert('applied', [appliedRow('transactions', 0)]);
    const old = { block_time: Math.floor(NOW / 1000) - 86_400 };
    await api.insert('events', [
      eventRow('a', 'Routed', 1, { block_time: TIME - 7 }),
      eventRow('b', 'Routed', 2),
      eventRow('b', 'FeesClaimed', 3, old),
      eventRow('b', 'AgentSet', 4, { actor: 'authority', block_time: TIME + 9 }),
      eventRow('b', 'BuybackBurned', 5, { block_time: TIME - 90 }),
    ]);
    const { keeper } = await status();
    expect(keeper.lastActionAt).toBe(ASOF);
    expect(keeper.last24h).toEqual([
      { kind: 'BuybackBurned', count: 1, lastAt: isoTime(TIME - 90) },
      { kind: 'Routed', count: 2, lastAt: ASOF },
    ]);
    await api.insert('gaps', [gapRow('9')]);
    expect((await status()).keeper.last24h.map((row) => row.count)).toEqual([null, null]);
  });

  test('the backlog counts escrows that hold something and is absent while one is not read', async () => {
    await api.insert(
      'policies',
      ['a', 'b', 'c'].map((name) => policyRow(name, 'usd')),
    );
    await api.insert('token_accounts', [
      tokenAccountRow(escrow('a'), '5', { block_time: TIME - 3 }),
      tokenAccountRow(escrow('b'), '0'),
    ]);
    const source = 'chain:getTokenAccountBalance';
    expect((await status()).keeper.unroutedFeeBacklogPolicyCount).toEqual({
      value: null,
      source,
      asOf: null,
      absent: true,
      reason: '1 of 3 quote escrows are not read yet',
    });
    await api.insert('token_accounts', [tokenAccountRow(escrow('c'), '1', { exists: 0 })]);
    const present = { value: 1, source, asOf: isoTime(TIME - 3) };
    expect((await status()).keeper.unroutedFeeBacklogPolicyCount).toEqual(present);
  });

  test('an attestor is as fresh as the newest attestation at each venue', async () => {
    await api.insert('venue_accounts', [
      venueAccountRow('a', 'p1', { remote_asof: TIME + 400 }),
      venueAccountRow('b', 'p2', { remote_asof: TIME + 450 }),
      venueAccountRow('b', 'o1', { asset_class: 32 }),
    ]);
    await api.insert('events', [eventRow('a', 'RemoteEquityReported', 1, { actor: 'reporter' })]);
    const { attestor } = await status();
    expect(attestor.lastActionAt).toBe(ASOF);
    expect(attestor.perVenue).toMatchObject([
      { venue: 'perp_x', value: 50, asOf: isoTime(TIME + 450) },
      { venue: 'options_x', value: null, absent: true },
    ]);
  });

  test('venues: programs by their account, pollers by the age of their newest good reading', async () => {
    await api.insert('program_status', [
      { program: 'launchpad', read_at: '1', address: SETTINGS.launchpadProgramId, exists: 1, error: null },
      { program: 'amm', read_at: '1', address: key('another'), exists: 1, error: null },
    ]);
    await api.insert('venue_status', [
      { venue: 'perp', ok: 1, read_at: String(NOW - 30_500), error: null },
      { venue: 'perp', ok: 0, read_at: String(NOW - 500), error: 'timed out' },
      { venue: 'options', ok: 0, read_at: String(NOW - 500), error: 'refused' },
    ]);
    const { venues } = await status();
    const source = 'chain:getAccountInfo';
    expect(venues.launch_x).toEqual({ reachable: true, programId: SETTINGS.launchpadProgramId, source });
    expect(venues.amm_x).toMatchObject({ reachable: null, programId: key('amm'), source });
    expect(venues.perp_x).toEqual({ value: 30, source: 'venue poller', asOf: isoMillis(NOW - 30_500) });
    expect(venues.options_x).toMatchObject({ absent: true, reason: 'never answered: refused' });
  });
});

describe('registries', () => {
  test('origins are by id, in snake case', async () => {
    await api.insert('origins', [
      originRow(3, 'options'),
      originRow(1, 'stocks-only'),
      originRow(2, 'gone', { exists: 0 }),
    ]);
    const { body } = await api.get<OriginsResponse>('/origins');
    expect(body.source).toBe('chain:Origin accounts');
    expect(body.items.map((item) => item.id)).toEqual([1, 3]);
    const pubkey = (originRow(1, '') as Record<string, string>).address;
    expect(body.items[0]).toEqual({
      id: 1,
      pubkey,
      name: 'stocks-only',
      asset_class_mask: 79,
      max_risk: 100,
    });
  });

  test('models are by id, with the time of the last change in ISO 8601', async () => {
    await api.insert('models', [modelRow(9, 'nine'), modelRow(1, 'one', { enabled: 0 })]);
    const { body } = await api.get<ModelsResponse>('/models');
    expect(body).toEqual({
      source: 'chain:Model accounts',
      items: [
        { id: 1, name: 'one', provider: 'maker', enabled: false, registeredAt: ASOF },
        { id: 9, name: 'nine', provider: 'maker', enabled: true, registeredAt: ASOF },
      ],
    });
  });

  test('a registration time no date can express does not fail the list', async () => {
    await api.insert('models', [modelRow(1, 'one', { registered_at: '9223372036854775807' })]);
    expect((await api.get('/models')).status).toBe(200);
  });
});

describe('quotes', () => {
  const pair = (name: string, symbol: string, change: object = {}) => ({
    mint: key(name),
    symbol,
    name: `The ${symbol}`,
    decimals: 6,
    category: 'custom',
    launchable: 1,
    launchpad_ready: 0,
    logo_url: null,
    ...change,
  });
  const quotes = async (query = '') => (await api.get<QuotesResponse>(`/quotes${query}`)).body;

  test('before the catalogue is read the list is empty and says why', async () => {
    expect(await quotes()).toMatchObject({ source: 'launch_x:/pairs catalogue', items: [], absent: true });
  });

  test('most policies first, then symbols by code point, nulls last, then the mint', async () => {
    await api.insert('catalogue', [
      {
        read_at: '1',
        rows: [
          pair('1', 'b'),
          pair('2', ''),
          pair('3', 'Z'),
          pair('4', 'b'),
          pair('5', 'é'),
          pair('usd', 'zz'),
        ],
      },
    ]);
    await api.insert('policies', [policyRow('a', 'usd')]);
    const rows = (await quotes()).items;
    const twins = [key('1'), key('4')].sort();
    expect(rows.map((row) => row.mint)).toEqual([key('usd'), key('3'), ...twins, key('5'), key('2')]);
    expect(rows[0]?.policyCount).toBe(1);
    expect(rows.at(-1)?.symbol).toBeNull();
  });

  test('a row is the catalogue’s, with caps where there is a reading of them', async () => {
    await api.insert('catalogue', [
      { read_at: '1', rows: [pair('usd', 'U', { logo_url: 'https://l/u.png' })] },
    ]);
    const caps = { start_market_cap_usd: 1.5, graduation_market_cap_usd: null, graduation_multiple: 12 };
    await api.insert('prices', [
      { mint: key('usd'), source: 'catalogue', read_at: '1', usd: '1', observed_at: null, ...caps },
    ]);
    expect((await quotes()).items).toEqual([
      {
        mint: key('usd'),
        symbol: 'U',
        name: 'The U',
        decimals: 6,
        category: 'custom',
        launchable: true,
        launchpadReady: false,
        logoUrl: 'https://l/u.png',
        policyCount: 0,
        startMarketCapUsd: 1.5,
        graduationMarketCapUsd: null,
        graduationMultiple: 12,
      },
    ]);
  });

  test('search is a case-insensitive substring of symbol or name; a pair that left the catalogue is gone', async () => {
    await api.insert('catalogue', [
      { read_at: '1', rows: [pair('1', 'ABC'), pair('2', 'xyz', { name: 'abcd' }), pair('3', 'q')] },
    ]);
    expect((await quotes('?search=bC')).items).toHaveLength(2);
    expect((await quotes('?search=%25')).items).toHaveLength(0);
    expect((await quotes('?search=')).items).toHaveLength(3);
    await api.insert('catalogue', [{ read_at: '2', rows: [pair('1', 'ABC')] }]);
    expect((await quotes()).items).toHaveLength(1);
  });

  test('at most 600 rows', async () => {
    const rows = Array.from({ length: 650 }, (_, index) => pair(`m${index}`, `S${index}`));
    await api.insert('catalogue', [{ read_at: '1', rows }]);
    expect((await quotes('?limit=650&offset=100')).items).toHaveLength(600);
  });
});

describe('analytics', () => {
  beforeEach(async () => {
    await api.insert('applied', [appliedRow('transactions', 0)]);
  });

  test('the configuration has the staleness as a string', async () => {
    await api.insert('protocol_config', [configRow()]);
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

  test('totals count policies and sum counters per quote asset without overflow', async () => {
    const max = '18446744073709551615';
    await api.insert('mints', [mintRow('usd', 6, { name: 'D', symbol: 'USD', uri: '' })]);
    await api.insert('policies', [
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

  test('bridge flow: what was sent beside what is attested, without revoked accounts', async () => {
    const usd = { bridged_out: '100', remote_equity: '70', remote_asof: TIME + 5 };
    await api.insert('venue_accounts', [
      venueAccountRow('a', 'p1', usd),
      venueAccountRow('b', 'p2', { ...usd, bridged_out: '1', remote_asof: TIME + 3 }),
      venueAccountRow('b', 'p3', { ...usd, revoked: 1 }),
    ]);
    const [perp, options] = (await analytics()).bridgeFlow.perVenue;
    expect(perp).toEqual({
      venue: 'perp_x',
      accountCount: 2,
      bridgedOut: { value: '101', source: 'chain:VenueAccount.bridged_out', asOf: ASOF },
      attestedEquity: { value: '140', source: 'chain:VenueAccount.remote_equity', asOf: isoTime(TIME + 3) },
      gap: { value: '-39', source: 'computed', asOf: ASOF },
    });
    expect(options).toMatchObject({ venue: 'options_x', accountCount: 0, gap: { value: '0' } });
  });

  test('the gap is absent where decimals differ or an account was never attested', async () => {
    await api.insert('mints', [mintRow('usd', 6), mintRow('sol', 9), mintRow('eur', 6)]);
    const account = (name: string, asset: string) =>
      venueAccountRow('a', name, { asset_mint: key(asset), remote_asof: TIME, bridged_out: '5' });
    await api.insert('venue_accounts', [account('p1', 'usd'), account('p2', 'eur')]);
    const perp = async () => (await analytics()).bridgeFlow.perVenue[0];
    expect((await perp())?.gap.value).toBe('10');
    await api.insert('venue_accounts', [account('p3', 'sol')]);
    expect((await perp())?.gap).toMatchObject({
      absent: true,
      reason: 'the decimals of the summed assets differ',
    });
    await api.insert('venue_accounts', [venueAccountRow('a', 'p4')]);
    expect((await perp())?.attestedEquity).toMatchObject({
      absent: true,
      reason: '1 of 4 accounts have no attestation yet',
    });
    expect((await perp())?.bridgedOut.value).toBe('15');
  });

  const dayRow = (day: string, quote: string, change: object = {}) => ({
    day,
    quote_mint: quote === '' ? '' : key(quote),
    log_partition: 0,
    log_offset: '1',
    routed_to_lp: '1',
    routed_to_bankroll: '2',
    protocol_cut: '3',
    profit: '4',
    buyback_spent: '5',
    event_count: '1',
    last_event: TIME,
    ...change,
  });

  test('the day series sums over quotes and partitions, oldest day first, and by quote', async () => {
    await api.insert('mints', [mintRow('usd', 6)]);
    await api.insert('quote_days', [
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

  test('the figures of a day with an incomplete transaction are absent, those of others stay', async () => {
    const day = isoTime(TIME).slice(0, 10);
    await api.insert('quote_days', [dayRow(day, 'usd'), dayRow('2020-01-01', 'usd')]);
    const cut = { signature: signature('cut'), slot: '5', policies: [], reason: 'cut' };
    await api.insert('incomplete_transactions', [{ ...cut, block_time: TIME }]);
    const [before, ofDay] = (await analytics()).revenueByDayTimeSeries;
    expect(before?.profitSwept.value).toBe('4');
    expect(ofDay?.profitSwept).toMatchObject({ value: null, absent: true });
    expect(ofDay?.byQuote[0]?.routedToLp).toMatchObject({ absent: true });
  });

  test('while history is not complete the days are listed and their figures absent', async () => {
    await api.insert('quote_days', [dayRow('2026-09-21', 'usd')]);
    await api.insert('gaps', [gapRow('5')]);
    expect((await analytics()).revenueByDayTimeSeries).toMatchObject([
      { day: '2026-09-21', routedToLp: { absent: true } },
    ]);
  });
});

describe('currencies', () => {
  const read = async () => (await api.get<CurrenciesResponse>('/venues/options_x/currencies')).body;

  test('never read: an empty list with the reason on the envelope', async () => {
    expect(await read()).toMatchObject({
      venue: 'options_x',
      source: 'venue poller',
      asOf: null,
      items: [],
      absent: true,
    });
  });

  test('those that have options, with the spot price as a figure', async () => {
    const row = (currency: string, change: object = {}) => ({
      currency,
      spot_price: '3000.5',
      has_options: 1,
      has_perps: 1,
      ...change,
    });
    await api.insert('currencies', [
      {
        read_at: String(NOW),
        rows: [row('ETH'), row('DOGE', { has_options: 0 }), row('BTC', { spot_price: null, has_perps: 0 })],
      },
    ]);
    const body = await read();
    expect(body.asOf).toBe(isoMillis(NOW));
    expect(body.items).toMatchObject([
      {
        currency: 'ETH',
        spotPrice: { value: '3000.5', source: 'venue poller', asOf: isoMillis(NOW) },
        hasOptions: true,
        hasPerps: true,
      },
      { currency: 'BTC', spotPrice: { absent: true }, hasPerps: false },
    ]);
  });
});
