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

test('a decimal of whole digits and fraction is scaled as integers are', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 10n ** 20n), fc.integer({ min: 0, max: 10 ** 10 - 1 }), (whole, fraction) => {
      const text = `${whole}.${String(fraction).padStart(10, '0')}`;
      expect(scaledFloor(text, 6)).toBe(whole * 1_000_000n + BigInt(Math.floor(fraction / 10_000)));
    }),
    { seed: SEED },
  );
});

test.each([1, null, '', ' 1', '1,5', '0x10', 'NaN', 'Infinity', '1'.repeat(81), {}, []])(
  '%j is no decimal string',
  (value) => {
    expect(() => decimalText(value, 'x')).toThrow(MalformedError);
  },
);

test.each(['1e400', '-1e400', '1e-400', `${'9'.repeat(60)}e1`])('%s is beyond all measure', (text) => {
  expect(() => decimalText(text, 'x')).toThrow('x: out of range');
});

test('the most digits that are taken are taken', () => {
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
])('%s is written out: what is served has no exponent', (text, plain) => {
  expect(decimalText(text, 'x')).toBe(plain);
});

test('a price or a size is never below zero', () => {
  for (const text of ['0', '-0', '0.5']) expect(amountText(text, 'x')).toBe(text);
  for (const text of ['-1', '-0.0000001', '-1e-7', '-1e-70'])
    expect(() => amountText(text, 'x')).toThrow('x: below zero');
});

test('half a surrogate pair, which the store does not take, is no text', () => {
  expect(textOf('\u{1f600}', 'x')).toBe('\u{1f600}');
  for (const text of ['a\ud800', '\udc00'])
    expect(() => textOf(text, 'x')).toThrow('x: half a surrogate pair');
});

test('what is not JSON in UTF-8 is malformed, whatever the bytes', () => {
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
