import { beforeEach, describe, expect, test } from 'vitest';
import { type RankingsResponse, SORTS, SUM_SORTS } from '../../../schemas/responses/rankings.ts';
import { isoMillis, isoTime } from '../../../schemas/units.ts';
import { NOW } from '../support/api.ts';
import {
  appliedRow,
  key,
  mintRow,
  modelRow,
  originRow,
  policyRow,
  poolKey,
  TIME,
  tokenAccountRow,
  totalsRow,
} from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});
const ASOF = isoTime(TIME);
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
const PAIR = {
  mint: key('usd'),
  symbol: 'USDX',
  name: 'Dollar',
  decimals: 6,
  category: 'currency',
  launchable: 1,
  launchpad_ready: 1,
  logo_url: null,
};

describe('a page of rankings', () => {
  test('is printed with the indentation of any other answer', async () => {
    const text = async (query: string) => (await fetch(`${held.api.url}/rankings${query}`)).text();
    const printed = (page: string) => `${JSON.stringify(JSON.parse(page), null, 2)}\n`;
    expect(await text('')).toBe(printed(await text('')));
    await held.api.insert('policies', [policyRow('one', 'usd'), policyRow('two', 'usd', { locked: 1 })]);
    await held.api.insert('mints', [mintRow('one', 6, { name: 'a "quoted"\nname', symbol: '$', uri: '' })]);
    for (const query of ['', '?offset=1', '?sort=newest&locked=true']) {
      const page = await text(query);
      expect(page).toBe(printed(page));
    }
  });

  test('is an empty list for an empty index, with every parameter echoed', async () => {
    expect(await rankings()).toEqual({
      sort: 'marketCap',
      order: 'desc',
      limit: 50,
      offset: 0,
      total: 0,
      hasMore: false,
      filters: {
        mode: null,
        origin: null,
        model: null,
        quote: null,
        locked: null,
        paused: null,
        search: null,
      },
      items: [],
    });
  });

  test('has limit and offset clamped, invalid ones replaced by defaults, and both echoed as used', async () => {
    expect(await rankings('?limit=201&offset=100001')).toMatchObject({ limit: 200, offset: 100_000 });
    expect(await rankings('?limit=0&offset=-1')).toMatchObject({ limit: 1, offset: 0 });
    expect(await rankings('?limit=x&offset=x')).toMatchObject({ limit: 50, offset: 0 });
  });

  test('continues the ranks of the page before, with the total of all pages', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `coin${index}`);
    await held.api.insert(
      'policies',
      names.map((name, index) => policyRow(name, 'usd', { created_at: TIME + index })),
    );
    const first = await rankings('?sort=newest&limit=3');
    expect(first).toMatchObject({ total: 7, hasMore: true });
    const last = await rankings('?sort=newest&limit=3&offset=6');
    expect(last).toMatchObject({ total: 7, hasMore: false, items: [{ rank: 7, mint: key('coin0') }] });
    expect(await rankings('?sort=newest&limit=3&offset=7')).toMatchObject({
      total: 7,
      hasMore: false,
      items: [],
    });
  });

  test('sums without events have the marker’s time, in dollars the older of that and the price’s', async () => {
    await held.api.insert('policies', [policyRow('coin', 'usd')]);
    await held.api.insert('mints', [mintRow('usd', 6)]);
    await held.api.insert('prices', [price('usd', '1')]);
    const ages = async () => {
      const [row] = await items();
      const ofSorts = SUM_SORTS.map((sort) => [row?.[sort].asOf, row?.usd[sort].asOf]);
      return [row?.eventsLast24h.asOf, ...ofSorts];
    };
    const [first, later] = [isoTime(TIME + 400), isoMillis(NOW + 60_000)];
    const priced = isoMillis(NOW - 1000);
    expect(await ages()).toEqual([first, ...SUM_SORTS.map(() => [first, first])]);
    const moved = { slot: '3000', log_offset: '20', block_time: NOW / 1000 + 60 };
    await held.api.insert('applied', [
      appliedRow('transactions', 0, moved),
      appliedRow('accounts', 0, moved),
    ]);
    expect(await ages()).toEqual([later, ...SUM_SORTS.map(() => [later, priced])]);
  });

  test('a sum of events without a time has no asOf, nor has its dollar value', async () => {
    await held.api.insert('policies', [policyRow('coin', 'usd')]);
    await held.api.insert('mints', [mintRow('usd', 6)]);
    await held.api.insert('prices', [price('usd', '1')]);
    await held.api.insert('policy_totals', [totalsRow('coin', { routed: '700', last_routed: null })]);
    const [row] = await items('?sort=fees');
    expect(row?.fees).toEqual({ value: '700', source: 'indexer:Routed events', asOf: null });
    expect(row?.usd.fees).toEqual({ value: '0.000700', source: 'computed', asOf: null });
  });

  test('a row has all of its fields, the token’s own names beside those of its quote asset', async () => {
    await held.api.insert('policies', [policyRow('coin', 'usd', { mode: 'Agent' })]);
    await held.api.insert('mints', [
      mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: '' }),
      mintRow('usd', 6),
    ]);
    await held.api.insert('origins', [originRow(1, 'stocks-only')]);
    await held.api.insert('models', [modelRow(7, 'seven')]);
    await held.api.insert('token_accounts', [tokenAccountRow(bankroll('coin'), '1000000')]);
    await held.api.insert('policy_totals', [totalsRow('coin', { routed: '2000001', last_routed: TIME + 3 })]);
    await held.api.insert('prices', [price('usd', '1.5')]);
    const [row] = await items();
    const computed = (value: string) => ({ value, source: 'computed', asOf: ASOF });
    const { quoteSymbolAbsentReason, marketCap, ...rest } = row ?? {};
    expect(quoteSymbolAbsentReason).toContain('launch_x:/pairs catalogue');
    expect(marketCap).toMatchObject({
      pool: poolKey('coin', 'usd'),
      poolStatus: null,
      quote: { absent: true },
    });
    expect(rest).toEqual({
      rank: 1,
      mint: key('coin'),
      mintName: 'Coin',
      mintSymbol: 'C',
      mintImageUrl: null,
      quoteMint: key('usd'),
      quoteSymbol: null,
      quoteSymbolSource: null,
      quoteDecimals: 6,
      mode: 'Agent',
      origin: { id: 1, name: 'stocks-only' },
      model: { id: 7, name: 'seven', provider: 'maker', enabled: true },
      risk: 50,
      locked: false,
      paused: false,
      profit: { value: '15', source: 'chain:Policy.profit_swept', asOf: ASOF },
      fees: { value: '2000001', source: 'indexer:Routed events', asOf: isoTime(TIME + 3) },
      burned: { value: '17', source: 'chain:Policy.tokens_burned', asOf: ASOF },
      bankroll: { value: '1000000', source: 'chain:getTokenAccountBalance', asOf: ASOF },
      usd: {
        profit: computed('0.000022'),
        fees: { value: '3.000001', source: 'computed', asOf: isoTime(TIME + 3) },
        bankroll: computed('1.500000'),
      },
      eventsLast24h: { value: 0, source: 'indexer:events', asOf: isoTime(TIME + 400) },
      createdAt: isoTime(TIME - 1000),
    });
    await held.api.insert('catalogue', [{ read_at: '1', rows: [PAIR] }]);
    const [named] = await items();
    expect(named).toMatchObject({ quoteSymbol: 'USDX', quoteSymbolSource: 'launch_x:/pairs catalogue' });
    expect(Object.keys(named ?? {})).not.toContain('quoteSymbolAbsentReason');
  });
});

describe('filters', () => {
  beforeEach(async () => {
    await held.api.insert('policies', [
      policyRow('a', 'usd', { mode: 'Agent', origin_id: 2, model_id: 3, created_at: 3 }),
      policyRow('b', 'sol', { locked: 1, created_at: 2 }),
      policyRow('c', 'usd', { paused: 1, created_at: 1 }),
    ]);
    await held.api.insert('mints', [mintRow('a', 6, { name: 'Alpha', symbol: 'AAA', uri: '' })]);
  });
  const [a, b, c] = ['a', 'b', 'c'].map(key);

  test.each([
    ['mode=Agent', [a]],
    ['mode=Passive', [b, c]],
    ['origin=2', [a]],
    ['origin=1', [b, c]],
    ['origin=70000', []],
    ['origin=-1', []],
    ['origin=99999999999999999999999999', []],
    ['model=3', [a]],
    ['model=0', [b, c]],
    ['model=7', []],
    [`quote=${key('sol')}`, [b]],
    [`quote=${key('nothing')}`, []],
    ['locked=true', [b]],
    ['locked=false', [a, c]],
    ['paused=true', [c]],
    ['search=alph', [a]],
    ['search=aAa', [a]],
    ['search=zzzz', []],
    ['search=', [a, b, c]],
    [`search=${b?.slice(0, 6)}`, [b]],
    ['search=%25', []],
    ['search=_', []],
    ['mode=Passive&locked=true', [b]],
    ['unknown=1', [a, b, c]],
  ])('?%s lists exactly the matching policies', async (query, expected) => {
    expect(await mints(`?sort=newest&${query}`)).toEqual(expected);
  });

  test.each([
    ['sort=x', `unknown ranking "x". Valid: ${SORTS.join(', ')}`],
    ['sort=', `unknown ranking "". Valid: ${SORTS.join(', ')}`],
    ['order=up', 'unknown order "up". Valid: desc, asc'],
    ['mode=agent', 'unknown mode "agent". Valid: Passive, Agent'],
    ['origin=1.5', 'unknown origin "1.5". Valid: an integer'],
    ['model=x', 'unknown model "x". Valid: an integer'],
    ['quote=x', 'unknown quote "x". Valid: a base58 public key'],
    ['locked=1', 'unknown locked "1". Valid: true, false'],
    ['paused=TRUE', 'unknown paused "TRUE". Valid: true, false'],
  ])('?%s is a 400 whose message says what is valid', async (query, error) => {
    const reply = await held.api.get(`/rankings?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error });
  });

  test.each(SORTS)('sort=%s works with every filter at once', async (sort) => {
    await held.api.truncate('policies', 'mints');
    await held.api.insert('prices', [price('usd', '1')]);
    await held.api.insert('policies', [policyRow('a', 'usd', { mode: 'Agent', locked: 1 })]);
    await held.api.insert('mints', [mintRow('a', 6, { name: 'Ämber', symbol: 'AMB', uri: '' })]);
    const query = `&mode=Agent&origin=1&model=7&quote=${key('usd')}&locked=true&paused=false&search=%C3%A4mb`;
    for (const order of ['asc', 'desc']) {
      const body = await rankings(`?sort=${sort}&order=${order}${query}`);
      expect(body.items).toMatchObject([{ mint: key('a') }]);
      expect(body.filters).toEqual({
        mode: 'Agent',
        origin: 1,
        model: 7,
        quote: key('usd'),
        locked: true,
        paused: false,
        search: 'ämb',
      });
    }
    expect((await rankings(`?sort=${sort}${query}&limit=1&offset=5`)).total).toBe(1);
  });
});
