import { describe, expect, test } from 'vitest';
import { quotePairs } from '../../clickhouse/queries/states/catalogue.ts';
import type { CurrenciesResponse } from '../../schemas/responses/currencies.ts';
import type { ModelsResponse, OriginsResponse, QuotesResponse } from '../../schemas/responses/registries.ts';
import { isoMillis, isoTime } from '../../schemas/units.ts';
import { NOW } from './support/api.ts';
import { key, modelRow, originRow, policyRow, streamRow, TIME } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi(async (api) => api.insert('stream_state', [streamRow(NOW)]));
const ASOF = isoTime(TIME);

describe('GET /origins and GET /models', () => {
  test('/origins lists the existing origins by id, with fields in snake case', async () => {
    await held.api.insert('origins', [
      originRow(3, 'options'),
      originRow(1, 'stocks-only'),
      originRow(2, 'gone', { exists: 0 }),
    ]);
    const { body } = await held.api.get<OriginsResponse>('/origins');
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

  test('/models lists the models by id, with registeredAt in ISO 8601', async () => {
    await held.api.insert('models', [modelRow(9, 'nine'), modelRow(1, 'one', { enabled: 0 })]);
    const { body } = await held.api.get<ModelsResponse>('/models');
    expect(body).toEqual({
      source: 'chain:Model accounts',
      items: [
        { id: 1, name: 'one', provider: 'maker', enabled: false, registeredAt: ASOF },
        { id: 9, name: 'nine', provider: 'maker', enabled: true, registeredAt: ASOF },
      ],
    });
  });

  test('/models is 200 even if a registration time is beyond what a date can express', async () => {
    await held.api.insert('models', [modelRow(1, 'one', { registered_at: '9223372036854775807' })]);
    expect((await held.api.get('/models')).status).toBe(200);
  });
});

describe('GET /quotes', () => {
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
  const quotes = async (query = '') => (await held.api.get<QuotesResponse>(`/quotes${query}`)).body;

  test('before the catalogue is read, the list is empty and absent, with the reason', async () => {
    expect(await quotes()).toEqual({
      source: 'launch_x:/pairs catalogue',
      items: [],
      absent: true,
      reason: 'the catalogue was not read yet',
    });
  });

  test('rows are sorted by policy count, then symbol by code point with missing ones last, then mint', async () => {
    await held.api.insert('catalogue', [
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
    await held.api.insert('policies', [policyRow('a', 'usd')]);
    const rows = (await quotes()).items;
    const twins = [key('1'), key('4')].sort();
    expect(rows.map((row) => row.mint)).toEqual([key('usd'), key('3'), ...twins, key('5'), key('2')]);
    expect(rows[0]?.policyCount).toBe(1);
    expect(rows.at(-1)?.symbol).toBeNull();
  });

  test('a row shows the catalogue’s pair with the market caps of its reading', async () => {
    await held.api.insert('catalogue', [
      { read_at: '1', rows: [pair('usd', 'U', { logo_url: 'https://l/u.png' })] },
    ]);
    const caps = { start_market_cap_usd: 1.5, graduation_market_cap_usd: null, graduation_multiple: 12 };
    await held.api.insert('prices', [
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
    await held.api.insert('catalogue', [
      { read_at: '1', rows: [pair('1', 'ABC'), pair('2', 'xyz', { name: 'abcd' }), pair('3', 'q')] },
    ]);
    expect((await quotes('?search=bC')).items).toHaveLength(2);
    expect((await quotes('?search=%25')).items).toHaveLength(0);
    expect((await quotes('?search=')).items).toHaveLength(3);
    await held.api.insert('catalogue', [{ read_at: '2', rows: [pair('1', 'ABC')] }]);
    expect((await quotes()).items).toHaveLength(1);
  });

  test('searches are answered from memory, and find what the store’s own query finds', async () => {
    const symbols = ['İST', 'ΑΣΑΣ', 'straße', 'ǅ', 'K', 'a_b%c', 'ÅNGSTRÖM', '🦊Fox', ''];
    const rows = symbols.map((symbol, n) => pair(`odd${n}`, symbol, { name: `n${n}` }));
    await held.api.insert('catalogue', [{ read_at: '1', rows }]);
    await quotes();
    const asked = held.api.queries('AS launchpad_ready');
    const searches = [
      ...symbols,
      'i',
      'ς',
      'σ',
      'SS',
      'ß',
      'ǆ',
      'k',
      '_',
      '%',
      '\\',
      'ång',
      'fox',
      'N3',
      'zz',
    ];
    for (const search of searches) {
      const found = (await quotes(`?search=${encodeURIComponent(search)}`)).items;
      const wanted = await quotePairs(held.api.latest.currentStore(), search, 600);
      expect([search, found.map(({ mint }) => mint)]).toEqual([search, wanted.map(({ mint }) => mint)]);
    }
    expect(held.api.queries('AS launchpad_ready') - asked).toBe(searches.length);
  });

  test('a catalogue of more pairs than memory holds is searched by the store', async () => {
    const rows = Array.from({ length: 2_100 }, (_, n) => pair(`m${n}`, `S${n}`));
    await held.api.insert('catalogue', [{ read_at: '1', rows }]);
    expect((await quotes('?search=s2099')).items.map(({ symbol }) => symbol)).toEqual(['S2099']);
    expect((await quotes('?search=s20')).items).toHaveLength(111);
  });

  test('at most 600 rows are served, and limit and offset are ignored', async () => {
    const rows = Array.from({ length: 650 }, (_, index) => pair(`m${index}`, `S${index}`));
    await held.api.insert('catalogue', [{ read_at: '1', rows }]);
    expect((await quotes('?limit=650&offset=100')).items).toHaveLength(600);
  });
});

describe('GET /venues/options_x/currencies', () => {
  const read = async () => (await held.api.get<CurrenciesResponse>('/venues/options_x/currencies')).body;

  test('before the venue is polled, the list is empty and absent, with the reason on the envelope', async () => {
    expect(await read()).toMatchObject({
      venue: 'options_x',
      source: 'venue poller',
      asOf: null,
      items: [],
      absent: true,
      reason: 'not polled yet',
    });
  });

  test('if the venue has never answered, the reason on the envelope says so and quotes the error', async () => {
    await held.api.insert('venue_status', [
      { venue: 'options', read_at: String(NOW), ok: 0, error: 'refused' },
    ]);
    expect(await read()).toMatchObject({ items: [], absent: true, reason: 'never answered: refused' });
  });

  test('lists only currencies that have options, with the spot price as a figure', async () => {
    const row = (currency: string, change: object = {}) => ({
      currency,
      spot_price: '3000.5',
      has_options: 1,
      has_perps: 1,
      ...change,
    });
    await held.api.insert('currencies', [
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
  test('while the venue is down the last list stays, with its reading time; old spot prices are absent', async () => {
    const readAt = NOW - 3_600_000;
    const row = { currency: 'ETH', spot_price: '3000.5', has_options: 1, has_perps: 1 };
    const status = { venue: 'options', error: null };
    await held.api.insert('currencies', [{ read_at: String(readAt), rows: [row] }]);
    await held.api.insert('venue_status', [
      { ...status, ok: 1, read_at: String(readAt) },
      { ...status, ok: 0, read_at: String(NOW), error: 'the venue answered HTTP 503' },
    ]);
    const body = await read();
    expect(body).toMatchObject({
      asOf: isoMillis(readAt),
      items: [{ currency: 'ETH', spotPrice: { asOf: isoMillis(readAt) } }],
    });
    expect(body.items[0]?.spotPrice).toMatchObject({ value: null, absent: true });
    expect(body.items[0]?.spotPrice.reason).toMatch(/^the newest reading is older than \d+ s/);
    expect(body).not.toHaveProperty('absent');
  });

  test('spot prices are absent while the reading time is more than 120 s in the future', async () => {
    const row = { currency: 'ETH', spot_price: '3000.5', has_options: 1, has_perps: 1 };
    const read_at = String(NOW + 120_001);
    await held.api.insert('currencies', [{ read_at, rows: [row] }]);
    expect((await read()).items[0]?.spotPrice).toMatchObject({
      ...{ value: null, absent: true, reason: expect.stringMatching(/still to come/) },
    });
    held.api.at(NOW + 1);
    expect((await read()).items[0]?.spotPrice).toMatchObject({ value: '3000.5' });
  });

  test('a reading without any currency is served as an empty list, not as an absent one', async () => {
    await held.api.insert('currencies', [{ read_at: String(NOW), rows: [] }]);
    expect(await read()).toEqual({
      venue: 'options_x',
      source: 'venue poller',
      asOf: isoMillis(NOW),
      items: [],
    });
  });
});
