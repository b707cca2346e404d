import { afterEach, describe, expect, test, vi } from 'vitest';
import { MalformedError } from '../../../schemas/malformed.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createPairsReader, listedPairs, readPricing } from '../../../schemas/venues/catalogue.ts';
import { readPrices } from '../../../schemas/venues/prices.ts';
import { fixture } from '../support/fixtures.ts';

const BASE = 'https://www.stonkfun.xyz/api/public/v1';
afterEach(() => vi.unstubAllEnvs());

const key = (fill: number) => encodeBase58(new Uint8Array(32).fill(fill));

function readPairs(reply: unknown, base: string) {
  const reader = createPairsReader(base);
  for (const pair of listedPairs(reply)) reader.take(pair);
  return reader.pairs();
}

describe('recorded replies of the catalogue and the price source', () => {
  test('every catalogue row is read, with an absolute logo URL', () => {
    const { pairs } = fixture('launchpad_catalogue/pairs.json') as { pairs: { mint: string }[] };
    const { rows, bad } = readPairs({ data: { pairs }, meta: {} }, BASE);
    expect(bad).toEqual([]);
    expect(rows.map(({ mint }) => mint)).toEqual(pairs.map(({ mint }) => mint));
    expect(rows[0]).toEqual({
      mint: 'XsoCS1TfEyfFhfvj8EtZ528L3CaKBDBRqRapnBbDF2W',
      symbol: 'SPYX',
      name: 'SP500',
      decimals: 8,
      category: 'xstock',
      launchable: true,
      launchpadReady: true,
      logoUrl:
        'https://www.stonkfun.xyz/api/asset/quote-logo/XsoCS1TfEyfFhfvj8EtZ528L3CaKBDBRqRapnBbDF2W?v=c2b8ddb3',
    });
  });

  test('pricing has the price as the shortest text of its number, its time and the launch market caps', () => {
    const mint = 'Xsf9mBktVB9BSU5kf4nHxPq5hCBJ2j2ui3ecFGxPRGc';
    expect(readPricing(fixture('launchpad_catalogue/pricing.json'), mint)).toEqual({
      usd: '23.42589530363774',
      observedAt: '2026-09-28T04:42:27.690Z',
      startMarketCapUsd: 3355.0237525518246,
      graduationMarketCapUsd: 49298.13816293637,
      graduationMultiple: 14.693826869464127,
    });
  });

  test('prices of the price source keep their text, and a mint without a price has null', () => {
    const sol = 'So11111111111111111111111111111111111111112';
    const reply = fixture('price/prices.json');
    expect([...readPrices(reply, [sol, key(1)])]).toEqual([
      [sol, '147.48'],
      [key(1), null],
    ]);
    expect(() => readPrices(fixture('price/another-shape.json'), [sol])).toThrow(MalformedError);
  });
});

const PAIR = { mint: key(1), symbol: 'A', name: 'Asset', decimals: 6, category: 'custom', launchable: true };

test('an invalid catalogue row is left out with its reason, and the other rows are read', () => {
  const odd = [
    { ...PAIR, mint: 'no key' },
    { ...PAIR, decimals: 6.5 },
    { ...PAIR, category: 'unheard of' },
    { ...PAIR, symbol: 'x'.repeat(501) },
    { ...PAIR, name: 'half \ud800' },
    null,
    'row',
  ];
  const { rows, bad } = readPairs({ data: { pairs: [...odd, PAIR] } }, BASE);
  expect(rows.map(({ mint }) => mint)).toEqual([key(1)]);
  expect(bad.map(({ row }) => row)).toEqual(odd);
  expect(bad[0]?.reason).toBe('pair.mint: no public key');
});

test('a mint listed with two different numbers of decimals is left out; with the same, its last row counts', () => {
  const other = { ...PAIR, mint: key(2) };
  const pairs = [PAIR, other, { ...PAIR, decimals: 9 }, PAIR, { ...other, symbol: 'B' }];
  const { rows, bad } = readPairs({ data: { pairs } }, BASE);
  expect(rows.map(({ mint, symbol }) => [mint, symbol])).toEqual([[key(2), 'B']]);
  expect(bad).toMatchObject([{ row: { mint: key(1) }, reason: expect.stringContaining('decimals') }]);
});

test('a pair without a symbol or a name is read with an empty one', () => {
  const { name: _, ...nameless } = { ...PAIR, mint: key(2), symbol: null };
  const { rows, bad } = readPairs({ data: { pairs: [nameless, { ...PAIR, name: null }] } }, BASE);
  expect(bad).toEqual([]);
  expect(rows).toMatchObject([
    { mint: key(2), symbol: '', name: '' },
    { mint: key(1), symbol: 'A', name: '' },
  ]);
});

test('a logo URL contains no user name or password, neither its own nor those of the catalogue URL', () => {
  const logos = ['https://user:mark@images.example/a.png', '/a.png'];
  const pairs = logos.map((logoUrl, index) => ({ ...PAIR, mint: key(index), logoUrl }));
  const { rows } = readPairs({ data: { pairs } }, 'https://user:mark@pairs.example/v1');
  expect(rows.map(({ logoUrl }) => logoUrl)).toEqual([
    'https://images.example/a.png',
    'https://pairs.example/a.png',
  ]);
});

test('a missing launchpadReady is false, and a logo that is not a web address is null', () => {
  const logos = ['javascript:alert(1)', 'data:text/html,x', '', 5, `/${'x'.repeat(3_000)}`];
  const pairs = logos.map((logoUrl, index) => ({ ...PAIR, mint: key(index), logoUrl }));
  const { rows } = readPairs({ data: { pairs } }, BASE);
  expect(rows.map(({ logoUrl, launchpadReady }) => [logoUrl, launchpadReady])).toEqual(
    logos.map(() => [null, false]),
  );
});

test.each([
  null,
  [],
  {},
  { data: {} },
  { data: { pairs: {} } },
  { data: { pairs: Array(100_001).fill(PAIR) } },
])('a reply without a list of pairs, or with too many of them, is malformed (case %#)', (reply) => {
  expect(() => readPairs(reply, BASE)).toThrow(MalformedError);
});

const pricing = (reply: unknown) => readPricing(reply, key(1));

test('a launch market cap or multiple of zero is kept; a negative or non-numeric one is null', () => {
  const cap = (given: unknown) =>
    pricing({
      data: { marketCap: { startUsd: given, graduationUsd: given, graduationMultiple: given } },
    });
  const all = (value: number | null) => ({
    ...{ startMarketCapUsd: value, graduationMarketCapUsd: value, graduationMultiple: value },
  });
  expect(cap(0)).toMatchObject(all(0));
  for (const given of [-1, '5', null, undefined, Number.NaN]) expect(cap(given)).toMatchObject(all(null));
});

test('a price that is not a number above zero is null, as are all fields of an empty pricing', () => {
  for (const quoteUsd of [0, -1, '5', null, undefined, {}]) {
    expect(pricing({ data: { prices: { quoteUsd } } }).usd).toBeNull();
  }
  expect(pricing({ data: { prices: null, marketCap: null } })).toEqual({
    usd: null,
    observedAt: null,
    startMarketCapUsd: null,
    graduationMarketCapUsd: null,
    graduationMultiple: null,
  });
});

test('a price with an unreadable time is malformed; one whose time is null has no time', () => {
  for (const observedAt of ['lately', '2026-02-30T04:42:27Z', '', {}, true, -1, 8.64e15]) {
    const reply = { data: { prices: { quoteUsd: 2, observedAt } } };
    expect(() => pricing(reply), String(observedAt)).toThrow(MalformedError);
  }
  expect(pricing({ data: { prices: { quoteUsd: 2, observedAt: null } } }).observedAt).toBeNull();
});

test.each(['Asia/Tokyo', 'UTC', 'America/New_York'])(
  'the time of a price is read the same on a machine in %s, and as UTC where it names no zone',
  (zone) => {
    vi.stubEnv('TZ', zone);
    const at = (observedAt: string) => pricing({ data: { prices: { quoteUsd: 2, observedAt } } }).observedAt;
    for (const text of ['2026-11-01T10:00:00', '2026-11-01 10:00', '2026-11-01T10:00:00.000000'])
      expect(at(text), text).toBe('2026-11-01T10:00:00.000Z');
    expect(at('2026-11-01T10:00:00.25+09:00')).toBe('2026-11-01T01:00:00.250Z');
    for (const zone of ['Z', 'z', '+00', '+0000', '+00:00'])
      expect(at(`2026-11-01 10:00:00.25${zone}`), zone).toBe('2026-11-01T10:00:00.250Z');
    for (const other of ['Nov 1 2026 10:00', '01-11-2026', '2026-13-01T10:00:00'])
      expect(() => at(other), other).toThrow(MalformedError);
  },
);

test('a price is null if it is negative, not a number, or of a mint named like an inherited property', () => {
  const reply = { success: true, data: { [key(2)]: '-5', [key(3)]: '1e-7', [key(4)]: 0.25, [key(5)]: 'x' } };
  const read = readPrices(reply, ['constructor', key(2), key(3), key(4), key(5)]);
  expect([...read.values()]).toEqual([null, null, '1e-7', '0.25', null]);
  expect(() => readPrices({ success: false, data: {} }, [])).toThrow(MalformedError);
});
