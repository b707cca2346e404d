import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MalformedError } from '../../../schemas/malformed.ts';
import { amountText, decimalText, jsonOf, scaledFloor, textOf } from '../../../schemas/venues/decimal.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

test.each([
  ['41085992.9213469997', 6, 41085992921346n],
  ['0.0', 6, 0n],
  ['-0.0000001', 6, -1n],
  ['-1.5', 6, -1_500_000n],
  ['1e3', 6, 1_000_000_000n],
  ['1.23e-5', 6, 12n],
  ['999999999999999999999.9999999', 6, 999999999999999999999999999n],
])('floor(%s × 10^%i) is exact', (text, scale, expected) => {
  expect(scaledFloor(text, scale)).toBe(expected);
});

test('scaling a random decimal gives the same as integer arithmetic', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 20n), fc.integer({ min: 0, max: 10 ** 10 - 1 }), (whole, fraction) => {
      const text = `${whole}.${String(fraction).padStart(10, '0')}`;
      expect(scaledFloor(text, 6)).toBe(whole * 1_000_000n + BigInt(Math.floor(fraction / 10_000)));
    }),
    { seed: SEED },
  );
});

test.each([1, null, '', ' 1', '1,5', '0x10', 'NaN', 'Infinity', '1'.repeat(81), {}, []])(
  '%j is not a decimal string',
  (value) => {
    expect(() => decimalText(value, 'x')).toThrow(MalformedError);
  },
);

test.each(['1e400', '-1e400', '1e-400', `${'9'.repeat(60)}e1`])(
  'the decimal %s is refused as out of range',
  (text) => {
    expect(() => decimalText(text, 'x')).toThrow('x: out of range');
  },
);

test('decimals with the most digits that are allowed are accepted', () => {
  for (const text of ['9'.repeat(60), `-${'9'.repeat(60)}`, `0.${'0'.repeat(59)}1`, '007.50', '1e-70'])
    expect(decimalText(text, 'x')).toBe(text);
  expect(scaledFloor(decimalText('-1e-70', 'x'), 6)).toBe(-1n);
});

test.each([
  ['1e3', '1000'],
  ['-12.5E-1', '-1.25'],
  ['1e-60', `0.${'0'.repeat(59)}1`],
  ['1e59', `1${'0'.repeat(59)}`],
  ['0e300', '0'],
])('%s is written out without an exponent, as it is served', (text, plain) => {
  expect(decimalText(text, 'x')).toBe(plain);
});

test('a price or a size below zero is refused', () => {
  for (const text of ['0', '-0', '0.5']) expect(amountText(text, 'x')).toBe(text);
  for (const text of ['-1', '-0.0000001', '-1e-7', '-1e-70'])
    expect(() => amountText(text, 'x')).toThrow('x: below zero');
});

test('a text with half a surrogate pair is refused, because the store does not accept it', () => {
  expect(textOf('\u{1f600}', 'x')).toBe('\u{1f600}');
  for (const text of ['a\ud800', '\udc00'])
    expect(() => textOf(text, 'x')).toThrow('x: half a surrogate pair');
});

test('random bytes parse as JSON or throw MalformedError, and invalid UTF-8 is malformed', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        jsonOf(bytes, 'x');
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedError);
      }
    }),
    { seed: SEED },
  );
  expect(() => jsonOf(new Uint8Array([0x22, 0xff, 0x22]), 'x')).toThrow('x: not JSON');
});
