import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { describe, expect, test } from 'vitest';
import { isSigned, isSmallOrder, signatureReadings } from '../../../api/agent/session/signature.ts';
import { testKey } from './support/keys.ts';

const KEY = testKey('signer');
const MESSAGE = Buffer.from('a service: agent session\nURL: https://x\nMint: m');
const SIGNATURE = KEY.sign(MESSAGE.toString());
/** Order of the ed25519 group, little-endian. */
const L = Buffer.from('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010', 'hex');
const ENCODINGS = ['base64', 'base64url', 'base58'] as const;

function encode(bytes: Buffer, encoding: (typeof ENCODINGS)[number]): string {
  return encoding === 'base58' ? bs58.encode(bytes) : bytes.toString(encoding);
}

/** A stream of numbers below `limit`, the same for the same seed. */
function numbers(seed: string) {
  let at = 0;
  return (limit: number): number => {
    at += 1;
    return createHash('sha256').update(`${seed}:${at}`).digest().readUInt32LE() % limit;
  };
}

function flipped(bytes: Buffer, below: (limit: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  const at = below(copy.length);
  copy[at] = (copy[at] as number) ^ (1 << below(8));
  return copy;
}

/** A signature whose base64 differs from its base64url. */
function signedWithPlus(): { message: Buffer; text: string } {
  for (let n = 0; ; n += 1) {
    const text = KEY.sign(`message ${n}`).toString('base64');
    if (/[+/]/.test(text)) return { message: Buffer.from(`message ${n}`), text };
  }
}

describe('a signature', () => {
  test('is accepted in base64, base64url and base58, as bs58 writes it, with padding and without', () => {
    for (const encoding of ENCODINGS)
      expect(isSigned(MESSAGE, encode(SIGNATURE, encoding), KEY.publicKey)).toBe(true);
    const plus = signedWithPlus();
    expect(isSigned(plus.message, plus.text.replace(/=+$/, ''), KEY.publicKey)).toBe(true);
  });

  test('is refused with stray bits, characters or padding; a text valid in two encodings has two readings', () => {
    const text = SIGNATURE.toString('base64');
    const twin = `${text.slice(0, 85)}${String.fromCharCode(text.charCodeAt(85) + 1)}==`;
    for (const other of [
      twin,
      ` ${text}`,
      `${text}\n`,
      `${text}=`,
      text.slice(0, -1),
      `1${bs58.encode(SIGNATURE)}`,
    ])
      expect(isSigned(MESSAGE, other, KEY.publicKey), other).toBe(false);
    const both = `1${'z'.repeat(84)}Q`;
    expect(signatureReadings(both)).toHaveLength(2);
  });

  test('with S + L in place of S is refused, though tweetnacl accepts it', () => {
    const forged = Buffer.from(SIGNATURE);
    let carry = 0;
    for (let at = 0; at < 32; at += 1) {
      const sum = (forged[32 + at] as number) + (L[at] as number) + carry;
      forged[32 + at] = sum & 255;
      carry = sum >> 8;
    }
    expect(nacl.sign.detached.verify(MESSAGE, forged, KEY.publicKey)).toBe(true);
    for (const encoding of ENCODINGS)
      expect(isSigned(MESSAGE, encode(forged, encoding), KEY.publicKey)).toBe(false);
  });

  test('under a key of small order is refused, though tweetnacl accepts it', () => {
    const identity = Buffer.alloc(32);
    identity[0] = 1;
    const forged = Buffer.concat([identity, Buffer.alloc(32)]);
    expect(nacl.sign.detached.verify(MESSAGE, forged, identity)).toBe(true);
    const keys = [
      '0100000000000000000000000000000000000000000000000000000000000000',
      '0000000000000000000000000000000000000000000000000000000000000080',
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
      'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
      'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    ].map((hex) => Buffer.from(hex, 'hex'));
    for (const key of keys) {
      expect(isSmallOrder(key)).toBe(true);
      expect(isSigned(MESSAGE, forged.toString('base64'), key)).toBe(false);
    }
    expect(isSmallOrder(KEY.publicKey)).toBe(false);
  });

  test('is never accepted after a mutation of message, key, signature or encoding', () => {
    const rounds = process.env.NIGHTLY === '1' ? 100_000 : 5_000;
    const seed = process.env.SEED ?? 'signatures';
    console.log(`${rounds} mutations, SEED=${seed}`);
    const below = numbers(seed);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_= \n';
    for (let round = 0; round < rounds; round += 1) {
      const encoding = ENCODINGS[below(3)] as (typeof ENCODINGS)[number];
      let message: Buffer = MESSAGE;
      let key: Buffer = KEY.publicKey;
      let signature: Buffer = SIGNATURE;
      let text = encode(signature, encoding);
      const kind = below(6);
      if (kind === 0) message = flipped(message, below);
      else if (kind === 1) key = flipped(key, below);
      else if (kind === 2) {
        signature = flipped(signature, below);
        text = encode(signature, encoding);
      } else if (kind === 3) {
        const at = below(text.length);
        text = text.slice(0, at) + alphabet[below(alphabet.length)] + text.slice(at + 1);
      } else if (kind === 4) text = text.slice(0, below(text.length));
      else message = message.subarray(0, below(message.length));
      const same = text === encode(SIGNATURE, encoding) && message === MESSAGE && key === KEY.publicKey;
      // Base64 without padding decodes to the same bytes, and is accepted.
      const unpadded = signatureReadings(text).some((bytes) => Buffer.from(bytes).equals(SIGNATURE));
      if (same || (kind >= 3 && kind < 5 && unpadded && text.length >= 86)) continue;
      expect(isSigned(message, text, key), `round ${round}, kind ${kind}: ${text}`).toBe(false);
    }
  });
});
