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
  test('encodes to the same text as bs58 and decodes it back, leading zero bytes included', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const text = bs58.encode(bytes);
        expect(encodeBase58(bytes)).toBe(text);
        expect(Buffer.compare(decodeBase58(text) as Uint8Array, bytes)).toBe(0);
      }),
      { seed: SEED, numRuns: 3000 },
    );
  });

  test('encodes the lowest and the highest key and signature to the same text as bs58', () => {
    for (const size of [32, 64]) {
      for (const fill of [0, 255]) {
        const bytes = new Uint8Array(size).fill(fill);
        expect(encodeBase58(bytes)).toBe(bs58.encode(bytes));
      }
    }
  });

  test('decodes a text with a character outside the alphabet to null', () => {
    for (const text of ['0', 'O', 'I', 'l', 'abc def', 'é', '\u0000', '1111+'])
      expect(decodeBase58(text)).toBeNull();
  });

  test('decodes ten kilobytes, but a text longer than the data of any instruction to null', () => {
    expect(decodeBase58('2'.repeat(16_385))).toBeNull();
    const data = new Uint8Array(10_240).map((_, at) => at % 251);
    expect(decodeBase58(bs58.encode(data))).toEqual(data);
  });

  test('decodes long texts of many lengths, and to null with an invalid character at either end or within', () => {
    const sizes = [...Array.from({ length: 120 }, (_, at) => 60 + at), 255, 256, 511, 512, 750, 1_232, 3_000];
    for (const size of sizes) {
      for (const fill of [1, 58, 128, 255]) {
        for (const zeros of [0, 1, 9]) {
          const data = new Uint8Array(zeros + size).map((_, at) =>
            at < zeros ? 0 : at % 3 === 2 ? 0 : fill,
          );
          const text = bs58.encode(data);
          expect(decodeBase58(text)).toEqual(data);
          for (const at of [0, zeros, text.length >> 1, text.length - 1])
            for (const none of ['0', 'l', 'é', '\u0131', '\ud800'])
              expect(decodeBase58(text.slice(0, at) + none + text.slice(at + 1))).toBeNull();
        }
      }
    }
    expect(decodeBase58('')).toEqual(new Uint8Array(0));
    for (const ones of [1, 44, 500, 10_240])
      expect(decodeBase58('1'.repeat(ones))).toEqual(new Uint8Array(ones));
    expect(decodeBase58(`${'1'.repeat(9_000)}2`)).toEqual(new Uint8Array(9_001).fill(1, 9_000));
    const power = `2${'1'.repeat(999)}`;
    expect(decodeBase58(power)).toEqual(new Uint8Array(bs58.decode(power)));
  });

  test('decodes a key only from exactly 32 bytes', () => {
    expect(decodeKey('1'.repeat(32))).toEqual(new Uint8Array(32));
    for (const text of ['', '1'.repeat(31), '1'.repeat(33), bs58.encode(new Uint8Array(33).fill(9))]) {
      expect(decodeKey(text)).toBeNull();
    }
  });
});
