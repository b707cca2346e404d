import { expect, test } from 'vitest';
import { differences, drawnDecimal, isCutOf, wrongWith } from './support/drawn-text.ts';

const cutOf = (text: string, digits: bigint, scale: number) => {
  const seen = drawnDecimal(text);
  return seen !== null && isCutOf(seen, { digits, scale });
};

test('a drawn text matches a number only as a truncation: never more, zero, another sign or 1% less', () => {
  expect(cutOf('1.93M', 1_938_169_840_581n, 6)).toBe(true);
  expect(cutOf('1.94M', 1_938_169_840_581n, 6)).toBe(false);
  expect(cutOf('1M', 1_938_169_840_581n, 6)).toBe(false);
  expect(cutOf('1,999.99', 1_999_999n, 3)).toBe(true);
  expect(cutOf('2,000', 1_999_999n, 3)).toBe(false);
  expect(cutOf('0', 1n, 18)).toBe(false);
  expect(cutOf('1×10⁻¹⁸', 1n, 18)).toBe(true);
  expect(cutOf('−5.5', -55n, 1)).toBe(true);
  expect(cutOf('5.5', -55n, 1)).toBe(false);
  expect(drawnDecimal('absent')).toBeNull();
});

const drawn = {
  ...{ scope: '', name: 'Bankroll', text: '1.5 USDX' },
  panel: {
    ...{ name: 'Bankroll', value: '1.5 USDX' },
    rows: {
      Exactly: '1,500,000 base units, 6 decimals',
      Source: 'chain',
      'As of': '2026-11-24 00:00:00 UTC, now',
    },
  },
};
const served = { value: '1500000', source: 'chain', asOf: '2026-11-24T00:00:00.000Z' };

test('a drawn figure is compared with the served one, including base units, source and time', () => {
  expect(wrongWith(drawn, { figure: served, reading: 6 })).toEqual([]);
  for (const other of [{ value: '1500001' }, { source: 'a venue' }, { asOf: '2026-11-24T00:00:01.000Z' }])
    expect(wrongWith(drawn, { figure: { ...served, ...other }, reading: 6 })).not.toEqual([]);
  const price = { ...drawn, text: '$0.0000001', panel: { ...drawn.panel, value: '$0.0000001' } };
  expect(wrongWith(price, { figure: { ...served, value: '1e-7' }, reading: 'count' })).toEqual([]);
  const absent = { value: null, source: 'chain', absent: true, reason: 'not read yet' };
  expect(wrongWith(drawn, { figure: absent, reading: 6 })).toEqual([
    'what is drawn is 1.5 USDX, not absent',
    'the reason is undefined, not not read yet',
  ]);
});

test('a number drawn but not expected, and one expected but not drawn, are reported', () => {
  expect(differences([drawn], new Map())).toEqual([
    '|Bankroll: 1.5 USDX is drawn, and nothing like it expected',
  ]);
  expect(differences([], new Map([['|Bankroll', { figure: served, reading: 6 }]]))).toEqual([
    '|Bankroll is not drawn',
  ]);
});
