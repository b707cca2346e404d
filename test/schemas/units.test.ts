import { describe, expect, test } from 'vitest';
import { blockTimeOf } from '../../schemas/solana/block-time.ts';
import {
  isoMillis,
  isoTime,
  parseDecimal,
  shortestDecimal,
  sixDigits,
  usdValue,
} from '../../schemas/units.ts';

describe('times', () => {
  test('have one form, with milliseconds', () => {
    expect(isoTime(1_790_282_932n)).toBe('2026-09-24T20:48:52.000Z');
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
    expect(isoMillis(1_790_282_932_123)).toBe('2026-09-24T20:48:52.123Z');
  });

  test('outside the years that the form can express stay inside them', () => {
    expect(isoTime(2n ** 63n - 1n)).toBe('9999-12-31T23:59:59.999Z');
    expect(isoTime(-(2n ** 63n))).toBe('0000-01-01T00:00:00.000Z');
  });
});

describe('times of blocks', () => {
  test('end with the last day that a sum can stand in', () => {
    const end = Date.parse('2149-06-07T00:00:00Z') / 1000;
    expect([1, end - 1].map(blockTimeOf)).toEqual([1, end - 1]);
    const year2200 = Date.parse('2200-01-01T00:00:00Z') / 1000;
    for (const none of [0, -1, 1.5, end, year2200, 1_790_282_932_000]) expect(blockTimeOf(none)).toBeNull();
  });
});

describe('decimals', () => {
  test('have one shortest text, digits and one point at most', () => {
    const texts = [
      '1e-7',
      '-1.50e-3',
      '1.5e1',
      '12e0',
      '0e-2',
      '2E3',
      '0.10',
      '1.0',
      '147.480',
      '0147.5',
      'x',
    ];
    expect(texts.map(shortestDecimal)).toEqual([
      ...['0.0000001', '-0.0015', '15', '12', '0', '2000', '0.1', '1', '147.48', '147.5', 'x'],
    ]);
  });

  test('are read with a point and an exponent', () => {
    expect(parseDecimal('12.50')).toEqual({ digits: 1250n, scale: 2 });
    expect(parseDecimal('1e-7')).toEqual({ digits: 1n, scale: 7 });
    expect(parseDecimal('1.5E+3')).toEqual({ digits: 1500n, scale: 0 });
    expect(parseDecimal('-0.1')).toEqual({ digits: -1n, scale: 1 });
  });

  test('are nothing else', () => {
    for (const text of ['', '.5', '5.', '1,000', 'NaN', '0x10', '1e1000', ' 1', '1'.repeat(61)]) {
      expect(parseDecimal(text)).toBeNull();
    }
  });

  test('of six digits are rounded down', () => {
    expect(sixDigits(2n, 3n)).toBe('0.666666');
    expect(sixDigits(10n, 1n)).toBe('10.000000');
  });
});

describe('US dollars', () => {
  test('of an amount are exact and rounded down at six digits', () => {
    expect(usdValue(1_500_000n, 6, { digits: 25n, scale: 1 })).toBe('3.750000');
    expect(usdValue(1n, 9, { digits: 999n, scale: 3 })).toBe('0.000000');
    expect(usdValue(18_446_744_073_709_551_615n, 0, { digits: 1n, scale: 7 })).toBe('1844674407370.955161');
  });
});
