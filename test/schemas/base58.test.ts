import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBase58, decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import { SEED } from './support/arbitraries.ts';

const anyBytes = fc
  .tuple(
    fc.nat({ max: 40 }),
    fc.oneof(
      fc.uint8Array({ maxLength: 90 }),
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
    ),
  )
  .map(([zeros, bytes]) => bytes.fill(0, 0, Math.max(0, zeros - 8)));

describe('base58', () => {
  test('writes what bs58 writes and reads it back, zeros in front included', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = bs58.encode(bytes);
        expect(encodeBase58(bytes)).toBe(text);
        expect(Buffer.compare(decodeBase58(text) as Uint8Array, bytes)).toBe(0);
      }),
      { seed: SEED, numRuns: 3000 },
    );
  });

  test('writes the lowest and the highest key and signature', () => {
    for (const size of [32, 64]) {
      for (const fill of [0, 255]) {
        const bytes = new Uint8Array(size).fill(fill);
        expect(encodeBase58(bytes)).toBe(bs58.encode(bytes));
      }
    }
  });

  test('answers null for a character outside the alphabet', () => {
    for (const text of ['0', 'O', 'I', 'l', 'abc def', 'é', '\u0000', '1111+'])
      expect(decodeBase58(text)).toBeNull();
  });

  test('answers null for a text longer than any instruction holds, and reads ten kilobytes', () => {
    expect(decodeBase58('2'.repeat(16_385))).toBeNull();
    const data = new Uint8Array(10_240).map((_, at) => at % 251);
    expect(decodeBase58(bs58.encode(data))).toEqual(data);
  });

  test('reads a key only from exactly 32 bytes', () => {
    expect(decodeKey('1'.repeat(32))).toEqual(new Uint8Array(32));
    for (const text of ['', '1'.repeat(31), '1'.repeat(33), bs58.encode(new Uint8Array(33).fill(9))]) {
      expect(decodeKey(text)).toBeNull();
    }
  });
});
