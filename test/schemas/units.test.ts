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
  test('are written as ISO 8601 in UTC, with milliseconds', () => {
    expect(isoTime(1_790_282_932n)).toBe('2026-09-24T20:48:52.000Z');
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
    expect(isoMillis(1_790_282_932_123)).toBe('2026-09-24T20:48:52.123Z');
  });

  test('beyond the years 0 to 9999 are clamped to them', () => {
    expect(isoTime(2n ** 63n - 1n)).toBe('9999-12-31T23:59:59.999Z');
    expect(isoTime(-(2n ** 63n))).toBe('0000-01-01T00:00:00.000Z');
  });
});

describe('block times', () => {
  test('are whole positive seconds up to the last day that sums can be stored for, else null', () => {
    const end = Date.parse('2149-06-07T00:00:00Z') / 1000;
    expect([1, end - 1].map(blockTimeOf)).toEqual([1, end - 1]);
    const year2200 = Date.parse('2200-01-01T00:00:00Z') / 1000;
    for (const none of [0, -1, 1.5, end, year2200, 1_790_282_932_000]) expect(blockTimeOf(none)).toBeNull();
  });
});

describe('decimals', () => {
  test('are written in their shortest form, without an exponent or padding zeros', () => {
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

  test('are parsed with a point and with an exponent', () => {
    expect(parseDecimal('12.50')).toEqual({ digits: 1250n, scale: 2 });
    expect(parseDecimal('1e-7')).toEqual({ digits: 1n, scale: 7 });
    expect(parseDecimal('1.5E+3')).toEqual({ digits: 1500n, scale: 0 });
    expect(parseDecimal('-0.1')).toEqual({ digits: -1n, scale: 1 });
  });

  test('of any other form, or too long, are parsed to null', () => {
    for (const text of ['', '.5', '5.', '1,000', 'NaN', '0x10', '1e1000', ' 1', '1'.repeat(61)]) {
      expect(parseDecimal(text)).toBeNull();
    }
  });

  test('as quotients have six digits after the point, rounded down', () => {
    expect(sixDigits(2n, 3n)).toBe('0.666666');
    expect(sixDigits(10n, 1n)).toBe('10.000000');
  });
});

describe('US dollars', () => {
  test('of an amount are computed exactly and rounded down to six digits after the point', () => {
    expect(usdValue(1_500_000n, 6, { digits: 25n, scale: 1 })).toBe('3.750000');
    expect(usdValue(1n, 9, { digits: 999n, scale: 3 })).toBe('0.000000');
    expect(usdValue(18_446_744_073_709_551_615n, 0, { digits: 1n, scale: 7 })).toBe('1844674407370.955161');
  });
});
