import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import { isoMillis, isoTime } from '../../schemas/units.ts';
import { NOW, startApi, type TestApi } from './support/api.ts';
import {
  appliedRow,
  curveRow,
  eventRow,
  gapRow,
  key,
  mintRow,
  modelRow,
  originRow,
  policyRow,
  poolKey,
  poolRow,
  signature,
  TIME,
  tokenAccountRow,
  totalsRow,
} from './support/rows.ts';
import { emptyStore } from './support/store.ts';

let engine: Awaited<ReturnType<typeof emptyStore>>;
let api: TestApi;
const ASOF = isoTime(TIME);

beforeAll(async () => {
  engine = await emptyStore();
  api = await startApi(engine.store);
});
afterAll(async () => {
  await api.close();
  await engine.close();
});
beforeEach(async () => {
  await api.truncate(
    'policies',
    'token_accounts',
    'mints',
    'metadata_accounts',
    'pools',
    'curve_configs',
    'prices',
  );
  await api.truncate(
    'catalogue',
    'policy_totals',
    'events',
    'events_by_slot',
    'applied',
    'gaps',
    'origins',
    'models',
  );
  await api.truncate('incomplete_transactions');
  api.at(NOW);
  await api.insert('applied', [appliedRow('transactions', 0), appliedRow('accounts', 0)]);
});

const rankings = async (query = '') => (await api.get<RankingsResponse>(`/rankings${query}`)).body;
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

describe('the page', () => {
  test('an empty index answers an empty list with everything echoed', async () => {
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

  test('limit and offset are clamped, fall back, and are echoed as used', async () => {
    expect(await rankings('?limit=201&offset=100001')).toMatchObject({ limit: 200, offset: 100_000 });
    expect(await rankings('?limit=0&offset=-1')).toMatchObject({ limit: 1, offset: 0 });
    expect(await rankings('?limit=x&offset=x')).toMatchObject({ limit: 50, offset: 0 });
  });

  test('ranks go on over pages, and the total is that of all pages', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `coin${index}`);
    await api.insert(
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

  test('a row carries the token’s own names beside those of its quote', async () => {
    await api.insert('policies', [policyRow('coin', 'usd', { mode: 'Agent' })]);
    await api.insert('mints', [
      mintRow('coin', 6, { name: 'Coin', symbol: 'C', uri: '' }),
      mintRow('usd', 6),
    ]);
    await api.insert('origins', [originRow(1, 'stocks-only')]);
    await api.insert('models', [modelRow(7, 'seven')]);
    await api.insert('token_accounts', [tokenAccountRow(bankroll('coin'), '1000000')]);
    await api.insert('policy_totals', [totalsRow('coin', { routed: '2000001', last_routed: TIME + 3 })]);
    await api.insert('prices', [price('usd', '1.5')]);
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
    await api.insert('catalogue', [{ read_at: '1', rows: [PAIR] }]);
    const [named] = await items();
    expect(named).toMatchObject({ quoteSymbol: 'USDX', quoteSymbolSource: 'launch_x:/pairs catalogue' });
    expect(Object.keys(named ?? {})).not.toContain('quoteSymbolAbsentReason');
  });
});

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

describe('sorts', () => {
  /** Two quote assets whose raw amounts compare the other way round than their dollars. */
  async function twoAssets() {
    await api.insert('mints', [mintRow('usd', 6), mintRow('sol', 9)]);
    await api.insert('prices', [price('usd', '1'), price('sol', '1.5e2')]);
  }

  test('profit ranks by dollars: the raw amount decides only inside one asset', async () => {
    await twoAssets();
    await api.insert('policies', [
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

  test('with a quote filter raw amounts rank even without a price', async () => {
    await api.insert('policies', [
      policyRow('a', 'none', { profit_swept: '18446744073709551614' }),
      policyRow('b', 'none', { profit_swept: '18446744073709551615' }),
    ]);
    expect(await mints(`?sort=profit&quote=${key('none')}`)).toEqual([key('b'), key('a')]);
  });

  test('amounts one base unit apart, beyond what a double holds, are told apart', async () => {
    await api.insert('mints', [mintRow('usd', 0)]);
    await api.insert('prices', [price('usd', '123456789.987654321')]);
    await api.insert('policies', [
      policyRow('a', 'usd', { profit_swept: '18446744073709551615' }),
      policyRow('b', 'usd', { profit_swept: '18446744073709551614' }),
      policyRow('c', 'usd', { profit_swept: '18446744073709551613' }),
    ]);
    expect(await mints('?sort=profit')).toEqual([key('a'), key('b'), key('c')]);
    expect(await mints('?sort=profit&order=asc')).toEqual([key('c'), key('b'), key('a')]);
  });

  test('equal keys stand by mint in both orders', async () => {
    await twoAssets();
    await api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd'), policyRow('c', 'usd')]);
    expect(await mints('?sort=profit')).toEqual(sorted('a', 'b', 'c'));
    expect(await mints('?sort=profit&order=asc')).toEqual(sorted('a', 'b', 'c'));
  });

  test('fees ranks by what was routed; a policy without events has a genuine zero', async () => {
    await twoAssets();
    await api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd'), policyRow('c', 'usd')]);
    await api.insert('policy_totals', [
      totalsRow('b', { routed: '6' }),
      totalsRow('b', { routed: '5', log_partition: 1 }),
      totalsRow('c', { routed: '10' }),
    ]);
    expect(await mints('?sort=fees')).toEqual([key('b'), key('c'), key('a')]);
    expect(await mints('?sort=fees&order=asc')).toEqual([key('a'), key('c'), key('b')]);
  });

  test('fees of a policy with an incomplete transaction are absent and last', async () => {
    await twoAssets();
    await api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
    await api.insert('policy_totals', [totalsRow('a', { routed: '6' }), totalsRow('b', { routed: '5' })]);
    const { address } = policyRow('a', 'usd') as Record<string, string>;
    await api.insert('incomplete_transactions', [
      { signature: signature('cut'), slot: '5', block_time: TIME, policies: [address], reason: 'cut' },
    ]);
    for (const order of ['asc', 'desc']) {
      const rows = await items(`?sort=fees&order=${order}`);
      expect(rows.map((row) => row.mint)).toEqual([key('b'), key('a')]);
      expect(rows[1]).toMatchObject({ fees: { absent: true }, usd: { fees: { absent: true } } });
    }
  });

  test('while history is not complete all fees are absent and rows stand by mint', async () => {
    await twoAssets();
    await api.insert('gaps', [gapRow('5')]);
    await api.insert('policies', [policyRow('a', 'usd'), policyRow('b', 'usd')]);
    await api.insert('policy_totals', [totalsRow('a', { routed: '6' }), totalsRow('b', { routed: '5' })]);
    const rows = await items('?sort=fees');
    expect(rows.map((row) => row.mint)).toEqual(sorted('a', 'b'));
    for (const row of rows)
      expect(row).toMatchObject({ fees: { absent: true }, eventsLast24h: { absent: true } });
  });

  test('burned ranks by what was paid to holders, not by tokens', async () => {
    await twoAssets();
    await api.insert('policies', [
      policyRow('a', 'usd', { paid_to_holders: '1000000', tokens_burned: '9' }),
      policyRow('b', 'usd', { paid_to_holders: '2000000', tokens_burned: '1' }),
    ]);
    expect(await mints('?sort=burned')).toEqual([key('b'), key('a')]);
  });

  test('bankroll ranks by the balance; an account that is not there is absent and last', async () => {
    await twoAssets();
    await api.insert(
      'policies',
      ['a', 'b', 'c', 'd'].map((name) => policyRow(name, 'usd')),
    );
    await api.insert('token_accounts', [
      tokenAccountRow(bankroll('a'), '0'),
      tokenAccountRow(bankroll('b'), '5'),
      tokenAccountRow(bankroll('c'), '50', { exists: 0 }),
    ]);
    expect(await mints('?sort=bankroll')).toEqual([key('b'), key('a'), ...sorted('c', 'd')]);
    expect(await mints('?sort=bankroll&order=asc')).toEqual([key('a'), key('b'), ...sorted('c', 'd')]);
  });

  test('market cap ranks by dollars of pools on the curve, each kind of curve exactly', async () => {
    await twoAssets();
    const names = ['product', 'fixed', 'linear', 'graduated', 'none'];
    await api.insert(
      'policies',
      names.map((name) => policyRow(name, 'usd')),
    );
    const curves = { product: 0, fixed: 1, linear: 2 } as const;
    await api.insert(
      'curve_configs',
      Object.entries(curves).map(([name, curve_type]) => curveRow({ address: key(name), curve_type })),
    );
    await api.insert('pools', [
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
    await api.insert(
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
    await api.insert('events', events);
    await api.insert('events', events);
    const rows = await items('?sort=activity');
    expect(rows.map((row) => [row.mint, row.eventsLast24h.value])).toEqual([
      [key('b'), 2],
      [key('a'), 1],
      [key('c'), 0],
    ]);
    expect(await mints('?sort=activity&order=asc')).toEqual([key('c'), key('a'), key('b')]);
  });

  test.each(['burned', 'bankroll', 'profit', 'fees', 'marketCap', 'activity', 'newest'])(
    '%s works with every filter at once',
    async (sort) => {
      await twoAssets();
      await api.insert('policies', [policyRow('a', 'usd', { mode: 'Agent', locked: 1 })]);
      await api.insert('mints', [mintRow('a', 6, { name: 'Ämber', symbol: 'AMB', uri: '' })]);
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
    },
  );
});

describe('filters', () => {
  beforeEach(async () => {
    await api.insert('policies', [
      policyRow('a', 'usd', { mode: 'Agent', origin_id: 2, model_id: 3, created_at: 3 }),
      policyRow('b', 'sol', { locked: 1, created_at: 2 }),
      policyRow('c', 'usd', { paused: 1, created_at: 1 }),
    ]);
    await api.insert('mints', [mintRow('a', 6, { name: 'Alpha', symbol: 'AAA', uri: '' })]);
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
  ])('%s', async (query, expected) => {
    expect(await mints(`?sort=newest&${query}`)).toEqual(expected);
  });

  test.each([
    ['sort=x', 'unknown ranking "x". Valid: marketCap, profit, fees, burned, bankroll, activity, newest'],
    ['sort=', 'unknown ranking "". Valid: marketCap, profit, fees, burned, bankroll, activity, newest'],
    ['order=up', 'unknown order "up". Valid: desc, asc'],
    ['mode=agent', 'unknown mode "agent". Valid: Passive, Agent'],
    ['origin=1.5', 'unknown origin "1.5". Valid: an integer'],
    ['model=x', 'unknown model "x". Valid: an integer'],
    ['quote=x', 'unknown quote "x". Valid: a base58 public key'],
    ['locked=1', 'unknown locked "1". Valid: true, false'],
    ['paused=TRUE', 'unknown paused "TRUE". Valid: true, false'],
  ])('%s is 400 and the message says what is valid', async (query, error) => {
    const reply = await api.get(`/rankings?${query}`);
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual({ error });
  });
});
