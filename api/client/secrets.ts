import { decodeBase58, decodeKey } from '../../schemas/solana/base58.ts';
import { publicKeyOf } from './key.ts';

/** What in the text looks like a secret, in words; null where nothing does. Posts are public and permanent. */
export function secretIn(text: string): string | null {
  if (/\[\s*(?:\d{1,3}\s*,\s*){31,}\d{1,3}\s*\]/.test(text)) return 'a private key as a list of bytes';
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_=-]{43,}/g)) {
    // Base58 and tokens contain none of these characters, so a secret may stand between two of them.
    for (const word of new Set([run.replace(/=+$/, ''), ...run.split(/[+/=]/)])) {
      const found = secretWord(word);
      if (found !== null) return found;
    }
  }
  return null;
}

function secretWord(word: string): string | null {
  if (readings(word).some(isKeyPair)) return 'a private key';
  if (/^[0-9a-fA-F]{64}$/.test(word)) return 'a private key in hexadecimal';
  // The base58 text of a public key may be as long as a token.
  if (/^[A-Za-z0-9_-]{43}$/.test(word) && decodeKey(word) === null) return 'a session token';
  return null;
}

function readings(word: string): Uint8Array[] {
  const base58 = decodeBase58(word);
  return [
    ...(base58 === null ? [] : [base58]),
    Buffer.from(word, 'base64'),
    ...(/^[0-9a-fA-F]+$/.test(word) ? [Buffer.from(word, 'hex')] : []),
  ];
}

/** 64 bytes whose second half is the public key of the first: no signature looks like that. */
function isKeyPair(bytes: Uint8Array): boolean {
  return bytes.length === 64 && Buffer.from(publicKeyOf(bytes.subarray(0, 32))).equals(bytes.subarray(32));
}
