import { createPublicKey, verify } from 'node:crypto';
import nacl from 'tweetnacl';
import { decodeBase58 } from '../../../schemas/solana/base58.ts';

const SIGNATURE = 64;
/** DER of an ed25519 public key up to its 32 bytes (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

/** The points of small order in every encoding, without the sign: under such a key one signature fits any message. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map((hex) => Buffer.from(hex, 'hex'));

export function isSmallOrder(key: Uint8Array): boolean {
  const unsigned = Buffer.from(key);
  unsigned[31] = (unsigned[31] as number) & 0x7f;
  return SMALL_ORDER.some((point) => point.equals(unsigned));
}

/** Every reading of the text as exactly 64 bytes; of each encoding only its canonical text, with or without padding. */
export function signatureReadings(text: string): Uint8Array[] {
  if (text.length > 100) return [];
  const readings: Buffer[] = [];
  const add = (bytes: Uint8Array) => {
    if (bytes.length === SIGNATURE && !readings.some((known) => known.equals(bytes)))
      readings.push(Buffer.from(bytes));
  };
  const standard = Buffer.from(text, 'base64');
  const padded = standard.toString('base64');
  if (text === padded || text === padded.replace(/=+$/, '')) add(standard);
  const urlSafe = Buffer.from(text, 'base64url');
  const unpadded = text.endsWith('==') ? text.slice(0, -2) : text;
  if (urlSafe.toString('base64url') === unpadded) add(urlSafe);
  const base58 = decodeBase58(text);
  if (base58 !== null) add(base58);
  return readings;
}

/**
 * Whether some reading of `signature` is the key's signature of the message. node:crypto and tweetnacl must both
 * accept: tweetnacl alone takes S + L for S.
 * @param key 32 bytes
 */
export function isSigned(message: Uint8Array, signature: string, key: Uint8Array): boolean {
  if (isSmallOrder(key)) return false;
  const readings = signatureReadings(signature);
  if (readings.length === 0) return false;
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI_PREFIX, key]),
    format: 'der',
    type: 'spki',
  });
  return readings.some(
    (bytes) => verify(null, message, publicKey, bytes) && nacl.sign.detached.verify(message, bytes, key),
  );
}
