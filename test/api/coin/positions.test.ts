import { describe, expect, test } from 'vitest';
import { readSettings } from '../../../api/settings.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import type { CoinResponse } from '../../../schemas/responses/coin/coin.ts';
import type { PositionsResponse } from '../../../schemas/responses/coin/positions.ts';
import { isoMillis, isoTime } from '../../../schemas/units.ts';
import { NOW } from '../support/api.ts';
import {
  configRow,
  key,
  mintRow,
  policyRow,
  TIME,
  tokenAccountRow,
  venueAccountRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});
const ASOF = isoTime(TIME);
const mint = key('coin');
const policyOf = (name: string) => policyRow(name, 'usd') as Record<string, string>;
const coin = async () => (await held.api.get<CoinResponse>(`/coins/${mint}`)).body;

describe('venue accounts and balances', () => {
  test('all four token accounts of a policy are served, the base escrow with the launched token’s decimals', async () => {
    const row = policyOf('coin');
    await held.api.insert('mints', [mintRow('usd', 8), mintRow('coin', 6)]);
    await held.api.insert('token_accounts', [
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

  test('a Local account shows its balance, a Remote one its attested equity and the amount bridged out', async () => {
    await held.api.insert('venue_accounts', [
      venueAccountRow('coin', 'local', { kind: 'Local', asset_class: 1, revoked: 1 }),
      venueAccountRow('coin', 'remote', { bridged_out: '70', remote_equity: '65', remote_asof: TIME + 9 }),
      venueAccountRow('coin', 'fresh', { bridged_out: '1' }),
      venueAccountRow('other', 'theirs'),
    ]);
    await held.api.insert('token_accounts', [tokenAccountRow(key('local'), '5')]);
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
    const head = ['tokenAccount', 'kind', 'assetClass', 'assetMint', 'revoked'];
    expect(Object.keys(at('local') ?? {})).toEqual([...head, 'local']);
    expect(Object.keys(at('remote') ?? {})).toEqual([...head, 'remote', 'bridgedOut']);
  });

  test('a Local balance is absent if its token account is of another mint than it is registered with', async () => {
    const written = (version: number) => ({ slot: String(version), version: String(BigInt(version) << 64n) });
    const isOf = async (version: number, change: object) => {
      const row = tokenAccountRow(key('local'), '1000000000000000000', { ...written(version), ...change });
      await held.api.insert('token_accounts', [row]);
      return (await coin()).venueAccounts[0];
    };
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'local', { kind: 'Local' })]);
    const there = { assetMint: key('usd'), local: { value: '1000000000000000000', asOf: ASOF } };
    expect(await isOf(2_000, {})).toMatchObject(there);
    const reason = `the token account ${key('local')} is of ${key('own')}, not of ${key('usd')}, which it is registered with`;
    expect(await isOf(2_001, { mint: key('own') })).toEqual({
      ...{ tokenAccount: key('local'), kind: 'Local', assetClass: 16, assetMint: key('usd'), revoked: false },
      local: { value: null, source: 'chain:getTokenAccountBalance', asOf: null, absent: true, reason },
    });
    // For a closed account the reason says so, and nothing about a mint that is not known.
    expect(await isOf(2_002, { mint: '', exists: 0 })).toMatchObject({
      local: { absent: true, reason: `no account at ${key('local')}` },
    });
    expect(await isOf(2_003, { mint: '' })).toMatchObject(there);
    expect(await isOf(2_004, {})).toMatchObject(there);
  });
});

describe('positions', () => {
  const positions = async () =>
    (await held.api.get<PositionsResponse>(`/coins/${mint}/positions`)).body.positions;
  const asof = (age: number) => Math.floor(NOW / 1000) - age;

  test('a policy without venue accounts has an empty list of positions', async () => {
    expect((await held.api.get(`/coins/${mint}/positions`)).body).toEqual({ mint, positions: [] });
  });

  test('lists the Remote accounts that are not revoked, each with its address and venue', async () => {
    await held.api.insert('venue_accounts', [
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
    await held.api.insert('protocol_config', [configRow()]);
    await held.api.insert('venue_accounts', [
      venueAccountRow('coin', 'perp', { remote_equity: '5', remote_asof: asof(age) }),
    ]);
    expect(await positions()).toMatchObject([{ onChainAttestation: { ageSeconds: age, stale } }]);
  });

  test('without a configured staleness limit the `stale` of an attestation is null', async () => {
    await held.api.insert('protocol_config', [configRow({ max_remote_staleness: 0 })]);
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'perp', { remote_asof: asof(9999) })]);
    expect(await positions()).toMatchObject([{ onChainAttestation: { ageSeconds: 9999, stale: null } }]);
  });

  test.each([
    ['100', 60_000],
    ['15000', 60_000],
    ['15001', 60_004],
    ['60000', 240_000],
  ])('with a poll interval of %s ms a venue reading is served for up to %i ms', (POLL_INTERVAL_MS, held) => {
    expect(readSettings(readConfig({ POLL_INTERVAL_MS })).readingMaxAgeMs).toBe(held);
  });

  test('the newest venue reading is served, also a failed one, and is absent with the reason once it is too old', async () => {
    const reading = {
      venue_account: venueAccountRow('coin', 'perp').address,
      read_at: String(NOW - 60_000),
      venue: 'perp',
      reachable: 1,
      error: null,
      equity: '123',
      notional: '456',
      reason: null,
      venue_time: String(TIME * 1000 + 7),
    };
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'perp')]);
    await held.api.insert('account_readings', [reading]);
    const figure = (value: string) => ({ value, source: 'venue poller', asOf: isoMillis(TIME * 1000 + 7) });
    expect(await positions()).toMatchObject([
      { livePollerReading: { reachable: true, error: null, equity: figure('123'), notional: figure('456') } },
    ]);
    const failed = {
      ...reading,
      read_at: String(NOW - 59_999),
      reachable: 0,
      error: 'timed out',
      equity: null,
      notional: null,
    };
    await held.api.insert('account_readings', [failed]);
    expect(await positions()).toMatchObject([
      {
        livePollerReading: {
          reachable: false,
          error: 'timed out',
          equity: { absent: true, reason: 'timed out' },
        },
      },
    ]);
    held.api.at(NOW + 2);
    expect(await positions()).toMatchObject([
      {
        livePollerReading: {
          absent: true,
          reason: expect.stringMatching(/^the newest reading is older than 60 s/),
        },
      },
    ]);
    const reason = 'the account is unified at the venue: its account value understates equity';
    await held.api.insert('account_readings', [
      { ...failed, read_at: String(NOW), reachable: 1, error: null, reason },
    ]);
    const [unified] = await positions();
    expect(unified?.livePollerReading).toEqual({
      ...{ value: null, source: 'venue poller', asOf: null },
      ...{ absent: true, reason },
    });
    await held.api.truncate('account_readings');
    expect(await positions()).toMatchObject([
      { livePollerReading: { absent: true, reason: 'not polled yet' } },
    ]);
  });

  test('a reading from before the clock was set back is absent while it is over two minutes in the future', async () => {
    const readAt = NOW + 7_200_000;
    await held.api.insert('venue_accounts', [venueAccountRow('coin', 'perp')]);
    await held.api.insert('account_readings', [
      {
        ...{ venue_account: venueAccountRow('coin', 'perp').address, read_at: String(readAt), venue: 'perp' },
        ...{ reachable: 1, error: null, equity: '100', notional: '0', reason: null, venue_time: null },
      },
    ]);
    const isPresent = [{ livePollerReading: { equity: { value: '100' } } }];
    held.api.at(readAt);
    expect(await positions()).toMatchObject(isPresent);
    held.api.at(NOW);
    const reason = `the newest reading has a time that is still to come (${isoMillis(readAt)})`;
    expect(await positions()).toMatchObject([{ livePollerReading: { value: null, absent: true, reason } }]);
    held.api.at(readAt - 120_001);
    expect(await positions()).toMatchObject([{ livePollerReading: { absent: true } }]);
    held.api.at(readAt - 120_000);
    expect(await positions()).toMatchObject(isPresent);
  });

  test('the reason that a remote account is no address of the venue is served however old its reading is', async () => {
    const own = venueAccountRow('coin', 'perp');
    const reason = 'the remote account is no address of the venue (20 bytes, right-aligned)';
    await held.api.insert('venue_accounts', [own]);
    await held.api.insert('account_readings', [
      {
        ...{ venue_account: own.address, read_at: String(NOW - 36_000_000), venue: 'perp', reachable: 0 },
        ...{ error: null, equity: null, notional: null, reason, venue_time: null },
      },
    ]);
    expect(await positions()).toMatchObject([{ livePollerReading: { absent: true, reason } }]);
  });

  test('a reading belongs to the venue account, not to another policy’s account with that token account', async () => {
    const own = venueAccountRow('coin', 'perp');
    const another = venueAccountRow('other', 'perp', { remote_account: '11'.repeat(32) });
    const reading = (of: typeof own, equity: string) => ({
      ...{ venue_account: of.address, read_at: String(NOW - 60_000), venue: 'perp', reachable: 1 },
      ...{ error: null, equity, notional: '0', reason: null, venue_time: null },
    });
    await held.api.insert('venue_accounts', [own, another]);
    await held.api.insert('account_readings', [reading(own, '1'), reading(another, '999')]);
    expect(await positions()).toMatchObject([{ livePollerReading: { equity: { value: '1' } } }]);
  });
});
