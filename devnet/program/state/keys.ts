import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import { seededBytes } from './random.ts';
import type { Key } from './state.ts';

const bytesByKey = new Map<Key, Uint8Array>();
const keyByBytes = new Map<string, Key>();
const keyByLabel = new Map<string, Key>();

export const ZERO_KEY: Key = '11111111111111111111111111111111';

function remember(key: Key, bytes: Uint8Array): void {
  bytesByKey.set(key, bytes);
  keyByBytes.set(byteKey(bytes), key);
}

/**
 * The 32 bytes of a key; each key is one shared array, so never write to it.
 * @throws RangeError where the text is no key.
 */
export function bytesOf(key: Key): Uint8Array {
  const known = bytesByKey.get(key);
  if (known !== undefined) return known;
  const bytes = decodeKey(key);
  if (bytes === null) throw new RangeError(`not a key: ${key}`);
  remember(key, bytes);
  return bytes;
}

/** The base58 text of 32 bytes. */
export function keyOf(bytes: Uint8Array): Key {
  const known = keyByBytes.get(byteKey(bytes));
  if (known !== undefined) return known;
  const key = encodeBase58(bytes);
  remember(key, Uint8Array.from(bytes));
  return key;
}

/** A made-up key; the same label always gives the same key. */
export function seededKey(label: string): Key {
  const known = keyByLabel.get(label);
  if (known !== undefined) return known;
  const key = keyOf(seededBytes(label, 32));
  keyByLabel.set(label, key);
  return key;
}

/** Byte order of two keys, which is the order the program compares addresses in. */
export function compareKeys(left: Key, right: Key): number {
  return Buffer.compare(bytesOf(left), bytesOf(right));
}
