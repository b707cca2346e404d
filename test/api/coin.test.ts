import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { encodeBase58 } from '../../schemas/base58.ts';
import { policyAddress } from '../../schemas/pda.ts';
import type { CoinResponse } from '../../schemas/responses/coin.ts';
import type { PositionsResponse } from '../../schemas/responses/positions.ts';
import { isoMillis, isoTime } from '../../schemas/units.ts';
import { NOW, startApi, type TestApi } from './support/api.ts';
import {
  appliedRow,
  configRow,
  curveRow,
  key,
  mintRow,
  modelRow,
  originRow,
  PROGRAM,
  policyRow,
  poolKey,
  poolRow,
  rawKey,
  SLOT,
  signature,
  TIME,
  tokenAccountRow,
  venueAccountRow,
} from './support/rows.ts';
import { emptyStore } from './support/store.ts';

let engine: Awaited<ReturnType<typeof emptyStore>>;
let api: TestApi;
const ASOF = isoTime(TIME);
const mint = key('coin');
const policyOf = (name: string) => policyRow(name, 'usd') as Record<string, string>;

beforeAll(async () => {
  engine = await emptyStore();
  api = await startApi(engine.store);
});
afterAll(async () => {
  await api.close();
  await engine.close();
});
beforeEach(async () => {
  await api.truncate('policies', 'venue_accounts', 'token_accounts', 'mints', 'metadata_accounts', 'pools');
  await api.truncate('curve_configs', 'protocol_config', 'prices', 'catalogue', 'metadata_documents');
  await api.truncate('policy_transactions', 'origins', 'models');
  api.at(NOW);
  await api.insert('policies', [policyRow('coin', 'usd')]);
});

const coin = async () => (await api.get<CoinResponse>(`/coins/${mint}`)).body;
const price = (change: object = {}) => ({
  mint: key('usd'),
  source: 'catalogue',
  read_at: String(NOW - 1000),
  usd: '2.5',
  observed_at: isoMillis(NOW - 60_000),
  ...change,
});
const pair = (change: object = {}) => ({
  mint: key('usd'),
  symbol: 'USDX',
  name: 'A dollar',
  decimals: 6,
  category: 'currency',
  launchable: 1,
  launchpad_ready: 1,
  logo_url: 'https://x/logo.png',
  ...change,
});

describe('the policy of a coin', () => {
  test('counters are figures of the policy account with the time of its last change', async () => {
    const { counters, hwm } = await coin();
    const source = 'chain:Policy account';
    expect(counters).toEqual({
      feesClaimedQuote: { value: '11', source, asOf: ASOF },
      protocolFees: { value: '12', source, asOf: ASOF },
      routedToLp: { value: '13', source, asOf: ASOF },
      routedToBankroll: { value: '14', source, asOf: ASOF },
      profitSwept: { value: '15', source, asOf: ASOF },
      paidToHolders: { value: '16', source, asOf: ASOF },
      tokensBurned: { value: '17', source, asOf: ASOF },
      creditSpent: { value: '18', source, asOf: ASOF },
    });
    expect(hwm).toEqual({ value: '19', source, asOf: ASOF });
  });

  test('a genuine zero is present, and the largest counter is exact', async () => {
    await api.truncate('policies');
    const change = { fees_claimed: '0', hwm: '18446744073709551615' };
    await api.insert('policies', [policyRow('coin', 'usd', change)]);
    const { counters, hwm } = await coin();
    expect(counters.feesClaimedQuote).toEqual({ value: '0', source: 'chain:Policy account', asOf: ASOF });
    expect(hwm.value).toBe('18446744073709551615');
  });

  test('a state whose block time no source knows is a present figure without a time', async () => {
    await api.truncate('policies');
    await api.insert('policies', [policyRow('coin', 'usd', { block_time: null })]);
    expect((await coin()).hwm).toEqual({ value: '19', source: 'chain:Policy account', asOf: null });
  });

  test('keys, splits and flags are those of the account', async () => {
    const body = await coin();
    expect(body).toMatchObject({
      mint,
      quoteMint: key('usd'),
      feeKeyMint: key('fee key'),
      authority: key('authority'),
      agent: null,
      guardian: key('guardian'),
      mode: 'Passive',
      feeSplit: { toLpBps: 4000, toBankrollBps: 6000 },
      profitSplit: { toLpBps: 1000, toHoldersBps: 2000, toBankrollBps: 7000 },
      risk: 50,
      targetAsset: key('target'),
      targetLeverageX: 3,
      locked: false,
      paused: false,
    });
  });

  test('in Passive mode the model exists and says nothing', async () => {
    await api.insert('models', [modelRow(7, 'seven')]);
    expect((await coin()).model).toEqual({ id: 0, name: null, provider: null, enabled: null });
  });

  test('in Agent mode the model is the one of the registry, and the agent is its key', async () => {
    await api.truncate('policies');
    await api.insert('policies', [policyRow('coin', 'usd', { mode: 'Agent', agent: key('agent') })]);
    expect((await coin()).model).toEqual({ id: 7, name: null, provider: null, enabled: null });
    await api.insert('models', [modelRow(7, 'seven', { enabled: 0 })]);
    const body = await coin();
    expect(body.model).toEqual({ id: 7, name: 'seven', provider: 'maker', enabled: false });
    expect(body.agent).toBe(key('agent'));
  });

  test('the origin block is camelCase', async () => {
    await api.insert('origins', [originRow(1, 'stocks-only')]);
    expect((await coin()).origin).toEqual({
      pubkey: policyOf('coin').origin,
      name: 'stocks-only',
      assetClassMask: 79,
      maxRisk: 100,
    });
  });

  test.each([
    [0, 0, false],
    [1, 0, true],
    [0, 1, true],
    [1, 1, true],
  ])('money paths with policy paused %i and protocol paused %i are frozen: %s', async (own, all, frozen) => {
    await api.truncate('policies');
    await api.insert('policies', [policyRow('coin', 'usd', { paused: own })]);
    await api.insert('protocol_config', [configRow({ paused: all })]);
    const body = await coin();
    expect([body.paused, body.protocolPaused, body.moneyPathsFrozen]).toEqual([own === 1, all === 1, frozen]);
  });

  test('the last indexed signature is the newest transaction of the policy, or a later write of the account', async () => {
    const policy = policyOf('coin').address;
    const transaction = { policy, has_index: 1, block_time: TIME + 5 };
    await api.insert('policy_transactions', [
      { ...transaction, slot: '1005', signature: signature('b'), tx_index: 2 },
      { ...transaction, slot: '1005', signature: signature('c'), tx_index: 9 },
      { ...transaction, slot: '1001', signature: signature('a'), tx_index: 50 },
    ]);
    expect(await coin()).toMatchObject({
      lastIndexedSignature: signature('c'),
      updatedAt: isoTime(TIME + 5),
    });
    const later = { signature: signature('d'), slot: '1006', version: String(1006n << 64n) };
    await api.insert('policies', [policyRow('coin', 'usd', later)]);
    expect((await coin()).lastIndexedSignature).toBe(signature('d'));
  });
});

describe('names and images', () => {
  test('all are null without metadata', async () => {
    await api.insert('mints', [mintRow('coin', 6)]);
    const none = { name: null, symbol: null, imageUrl: null, metadataUri: null, metadataAsOf: null };
    expect(await coin()).toMatchObject(none);
  });

  test('the launched mint names itself, its document the image', async () => {
    await api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'https://m/1' })]);
    await api.insert('metadata_documents', [
      { mint, read_at: '1', uri: 'https://m/1', image_url: 'https://m/i.png', error: null },
    ]);
    expect(await coin()).toMatchObject({
      name: 'Coin',
      symbol: 'C',
      imageUrl: 'https://m/i.png',
      metadataUri: 'https://m/1',
      metadataAsOf: ASOF,
    });
  });

  test('the image of an older document is not served for a new uri', async () => {
    await api.insert('mints', [mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: 'https://m/2' })]);
    await api.insert('metadata_documents', [
      { mint, read_at: '1', uri: 'https://m/1', image_url: 'https://m/i.png', error: null },
    ]);
    expect((await coin()).imageUrl).toBeNull();
  });

  test('metadata that a pointer names is used only if it names the mint', async () => {
    const pointed = {
      ...mintRow('coin', 6),
      address: key('elsewhere'),
      name: 'Far',
      symbol: 'F',
      uri: 'https://m/f',
    };
    const {
      token_program: _,
      decimals: __,
      supply: ___,
      metadata_pointer: ____,
      ...account
    } = pointed as Record<string, unknown>;
    await api.insert('mints', [mintRow('coin', 6, { metadata_pointer: key('elsewhere') })]);
    await api.insert('metadata_accounts', [{ ...account, mint: key('another') }]);
    expect((await coin()).name).toBeNull();
    await api.insert('metadata_accounts', [{ ...account, mint, version: String(1n << 80n) }]);
    expect(await coin()).toMatchObject({ name: 'Far', metadataUri: 'https://m/f' });
  });
});

describe('the quote asset', () => {
  test('the catalogue names it before its own metadata does', async () => {
    await api.insert('mints', [mintRow('usd', 6, { name: 'Own', symbol: 'OWN', uri: '' })]);
    expect((await coin()).quote).toMatchObject({
      symbol: 'OWN',
      name: 'Own',
      symbolSource: 'chain:quote mint Token-2022 metadata',
      iconUrl: null,
      iconSource: null,
      decimals: 6,
    });
    await api.insert('catalogue', [{ read_at: '1', rows: [pair()] }]);
    expect((await coin()).quote).toMatchObject({
      symbol: 'USDX',
      name: 'A dollar',
      symbolSource: 'launch_x:/pairs catalogue',
      iconUrl: 'https://x/logo.png',
      iconSource: 'launch_x:/pairs catalogue',
    });
  });

  test('where neither place names it, the reason names both', async () => {
    const { quote } = await coin();
    expect(quote).toMatchObject({ symbol: null, name: null, symbolSource: null });
    expect(quote.symbolAbsentReason).toContain('launch_x:/pairs catalogue');
    expect(quote.symbolAbsentReason).toContain('chain:quote mint Token-2022 metadata');
  });

  test('the catalogue prices it first, the second source where it has no price that is fresh', async () => {
    await api.insert('prices', [price(), price({ source: 'second', usd: '2.4', observed_at: null })]);
    expect((await coin()).quote).toMatchObject({ priceUsd: '2.5', priceObservedAt: isoMillis(NOW - 60_000) });
    await api.insert('prices', [price({ usd: null, read_at: String(NOW) })]);
    expect((await coin()).quote).toMatchObject({ priceUsd: '2.4', priceObservedAt: isoMillis(NOW - 1000) });
  });

  test('a price of 15 minutes is served, an older one is null with that reason', async () => {
    await api.insert('prices', [price({ observed_at: isoMillis(NOW - 900_000) })]);
    expect((await coin()).quote.priceUsd).toBe('2.5');
    api.at(NOW + 1);
    const { quote } = await coin();
    expect(quote).toMatchObject({ priceUsd: null, priceObservedAt: null });
    expect(quote.priceAbsentReason).toContain('older than 15 minutes');
  });
});

describe('the market cap', () => {
  const cap = async () => (await coin()).marketCap;

  test('before the pool is read, the address is there and both figures say why they are not', async () => {
    const block = await cap();
    expect(block).toMatchObject({ pool: poolKey('coin', 'usd'), poolStatus: null, priceQuotePerBase: null });
    expect(block.quote.reason).toContain('not read yet');
    expect(block.usd.reason).toBe('marketCap.quote is absent, so it has no dollar value');
  });

  test('without an account at the address it says so', async () => {
    await api.insert('pools', [poolRow('coin', 'usd', { exists: 0 })]);
    const block = await cap();
    expect(block.poolStatus).toBeNull();
    expect(block.quote).toMatchObject({
      value: null,
      absent: true,
      reason: `no account at ${poolKey('coin', 'usd')}`,
    });
  });

  test('on the curve it is exact, in dollars six digits rounded down, as old as the older of its inputs', async () => {
    await api.insert('pools', [poolRow('coin', 'usd')]);
    await api.insert('curve_configs', [curveRow()]);
    expect((await cap()).usd.reason).toContain('no USD price');
    await api.insert('mints', [mintRow('usd', 6)]);
    await api.insert('prices', [price({ usd: '0.9997' })]);
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

  test('without the decimals of the quote mint the dollars alone are absent', async () => {
    await api.insert('pools', [poolRow('coin', 'usd')]);
    await api.insert('curve_configs', [curveRow()]);
    await api.insert('prices', [price()]);
    const block = await cap();
    expect(block.quote.absent).toBeUndefined();
    expect(block.usd.reason).toContain('decimals');
  });

  test.each([1, 2])('at pool status %i it is absent and the status is served', async (status) => {
    await api.insert('pools', [poolRow('coin', 'usd', { status })]);
    await api.insert('curve_configs', [curveRow()]);
    const block = await cap();
    expect(block.poolStatus).toBe(status);
    expect(block.quote.reason).toContain('not implemented');
  });

  test('a curve whose config is not read, or whose reserve is empty, has no price', async () => {
    await api.insert('pools', [poolRow('coin', 'usd', { virtual_base: '5', real_base: '5' })]);
    expect((await cap()).quote.reason).toContain('config is not read yet');
    await api.insert('curve_configs', [curveRow()]);
    expect((await cap()).quote.reason).toContain('no price');
  });
});

describe('venue accounts and balances', () => {
  test('all four program accounts are there, the base escrow with the decimals of the launched token', async () => {
    const row = policyOf('coin');
    await api.insert('mints', [mintRow('usd', 8), mintRow('coin', 6)]);
    await api.insert('token_accounts', [
      tokenAccountRow(row.bankroll as string, '100'),
      tokenAccountRow(row.base_escrow as string, '0'),
      tokenAccountRow(row.holder_rewards as string, '9', { exists: 0 }),
    ]);
    const source = 'chain:getTokenAccountBalance';
    const gone = (reason: string) => ({ value: null, source, asOf: null, absent: true, reason });
    expect((await coin()).pdaBalances).toEqual([
      {
        kind: 'bankroll',
        tokenAccount: row.bankroll,
        balance: { value: '100', source, asOf: ASOF },
        decimals: 8,
      },
      {
        kind: 'quote_escrow',
        tokenAccount: row.quote_escrow,
        balance: gone(`not read yet: ${row.quote_escrow}`),
        decimals: 8,
      },
      {
        kind: 'base_escrow',
        tokenAccount: row.base_escrow,
        balance: { value: '0', source, asOf: ASOF },
        decimals: 6,
      },
      {
        kind: 'holder_rewards',
        tokenAccount: row.holder_rewards,
        balance: gone(`no account at ${row.holder_rewards}`),
        decimals: 8,
      },
    ]);
  });

  test('a Local account shows its balance, a Remote one what is attested and what was sent', async () => {
    await api.insert('venue_accounts', [
      venueAccountRow('coin', 'local', { kind: 'Local', asset_class: 1, revoked: 1 }),
      venueAccountRow('coin', 'remote', { bridged_out: '70', remote_equity: '65', remote_asof: TIME + 9 }),
      venueAccountRow('coin', 'fresh', { bridged_out: '1' }),
      venueAccountRow('other', 'theirs'),
    ]);
    await api.insert('token_accounts', [tokenAccountRow(key('local'), '5')]);
    const accounts = (await coin()).venueAccounts;
    const at = (name: string) => accounts.find((account) => account.tokenAccount === key(name));
    expect(accounts).toHaveLength(3);
    expect(at('local')).toEqual({
      tokenAccount: key('local'),
      kind: 'Local',
      assetClass: 1,
      assetMint: key('usd'),
      revoked: true,
      local: { value: '5', source: 'chain:getTokenAccountBalance', asOf: ASOF },
    });
    expect(at('remote')).toEqual({
      tokenAccount: key('remote'),
      kind: 'Remote',
      assetClass: 16,
      assetMint: key('usd'),
      revoked: false,
      remote: { value: '65', source: 'chain:VenueAccount.remote_equity', asOf: isoTime(TIME + 9) },
      bridgedOut: { value: '70', source: 'chain:VenueAccount.bridged_out', asOf: ASOF },
    });
    expect(at('fresh')).toMatchObject({ remote: { value: null, absent: true } });
  });
});

describe('positions', () => {
  const positions = async () => (await api.get<PositionsResponse>(`/coins/${mint}/positions`)).body.positions;
  const asof = (age: number) => Math.floor(NOW / 1000) - age;

  test('an empty list is a real empty list', async () => {
    expect((await api.get(`/coins/${mint}/positions`)).body).toEqual({ mint, positions: [] });
  });

  test('Remote accounts only, revoked ones skipped, each with its allowlist address and venue', async () => {
    await api.insert('venue_accounts', [
      venueAccountRow('coin', 'local', { kind: 'Local' }),
      venueAccountRow('coin', 'gone', { revoked: 1 }),
      venueAccountRow('coin', 'perp'),
      venueAccountRow('coin', 'option', { asset_class: 32 }),
      venueAccountRow('coin', 'stock', { asset_class: 8 }),
    ]);
    const found = Object.fromEntries((await positions()).map((row) => [row.venueAccount, row]));
    expect(Object.keys(found).sort()).toEqual([key('perp'), key('option'), key('stock')].sort());
    expect(found[key('perp')]).toMatchObject({
      venue: 'perp_x',
      venueAccountPda: venueAccountRow('coin', 'perp').address,
      assetClass: 16,
      assetMint: key('usd'),
      onChainAttestation: { equity: { absent: true }, ageSeconds: null, stale: null },
      livePollerReading: { absent: true, source: 'venue poller' },
    });
    expect(found[key('option')]).toMatchObject({
      venue: 'options_x',
      livePollerReading: { absent: true, reason: 'the options venue publishes no account equity' },
    });
    expect(found[key('stock')]).toMatchObject({ venue: null });
  });

  test.each([
    [0, false],
    [120, false],
    [121, true],
    [-120, false],
    [-121, true],
  ])('an attestation %i seconds old with a limit of 120 is stale: %s', async (age, stale) => {
    await api.insert('protocol_config', [configRow()]);
    await api.insert('venue_accounts', [
      venueAccountRow('coin', 'perp', { remote_equity: '5', remote_asof: asof(age) }),
    ]);
    expect(await positions()).toMatchObject([{ onChainAttestation: { ageSeconds: age, stale } }]);
  });

  test('without a configured staleness nothing is stale or fresh', async () => {
    await api.insert('protocol_config', [configRow({ max_remote_staleness: 0 })]);
    await api.insert('venue_accounts', [venueAccountRow('coin', 'perp', { remote_asof: asof(9999) })]);
    expect(await positions()).toMatchObject([{ onChainAttestation: { ageSeconds: 9999, stale: null } }]);
  });

  test('what the venue itself says stands beside the attestation', async () => {
    const reading = {
      token_account: key('perp'),
      read_at: '5',
      venue: 'perp',
      reachable: 1,
      error: null,
      equity: '123',
      notional: '456',
      reason: null,
      venue_time: String(TIME * 1000 + 7),
    };
    await api.insert('venue_accounts', [venueAccountRow('coin', 'perp')]);
    await api.insert('venue_readings', [reading]);
    const figure = (value: string) => ({ value, source: 'venue poller', asOf: isoMillis(TIME * 1000 + 7) });
    expect(await positions()).toMatchObject([
      { livePollerReading: { reachable: true, error: null, equity: figure('123'), notional: figure('456') } },
    ]);
    const failed = {
      ...reading,
      read_at: '6',
      reachable: 0,
      error: 'timed out',
      equity: null,
      notional: null,
    };
    await api.insert('venue_readings', [failed]);
    expect(await positions()).toMatchObject([
      {
        livePollerReading: {
          reachable: false,
          error: 'timed out',
          equity: { absent: true, reason: 'timed out' },
        },
      },
    ]);
    await api.truncate('venue_readings');
  });
});

describe('a mint without a policy', () => {
  const names = ['', '/positions', '/fees', '/loop', '/activity', '/holders', '/posts'];
  test.each(names)('%s answers 404 with the mint', async (name) => {
    for (const unknown of [
      key('nobody'),
      'x',
      encodeBase58(policyAddress(PROGRAM, rawKey('coin'))),
      '%00',
      'a%2Fb',
    ]) {
      const reply = await api.get(`/coins/${unknown}${name}`);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual({ error: `no policy indexed for mint ${decodeURIComponent(unknown)}` });
    }
  });

  test('a policy whose account was never good, or is gone, does not exist', async () => {
    const gone = { exists: 0, version: String((SLOT + 1n) << 64n) };
    await api.insert('policies', [policyRow('coin', 'usd', gone)]);
    await api.insert('applied', [appliedRow('accounts', 0)]);
    expect((await api.get(`/coins/${mint}`)).status).toBe(404);
  });
});
