const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < 58; value += 1) VALUES[CODES[value] as number] = value;

/** Five digits at a time: the largest power of 58 whose product with 2^16 stays an exact number. */
const LIMB = 58 ** 5;
/** Longest text or bytes that is worth reading; a transaction's instruction data stays below it: an inner one holds 10 kB. */
const MAX_LENGTH = 16_384;

/** Base58 text of any bytes, in the alphabet of keys and signatures. */
export function encodeBase58(bytes: Uint8Array): string {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  const limbs: number[] = [];
  let at = zeros;
  if ((bytes.length - zeros) % 2 === 1) {
    limbs.push(bytes[at] as number);
    at += 1;
  }
  for (; at < bytes.length; at += 2) {
    let carry = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    for (let limb = 0; limb < limbs.length; limb += 1) {
      carry += (limbs[limb] as number) * 65536;
      const high = Math.floor(carry / LIMB);
      limbs[limb] = carry - high * LIMB;
      carry = high;
    }
    if (carry > 0) limbs.push(carry);
  }
  let text = '1'.repeat(zeros);
  for (let limb = limbs.length - 1; limb >= 0; limb -= 1) {
    text += fiveDigits(limbs[limb] as number, limb === limbs.length - 1);
  }
  return text;
}

function fiveDigits(limb: number, first: boolean): string {
  let rest = limb;
  let text = '';
  for (let digit = 0; digit < 5 && (rest > 0 || !first); digit += 1) {
    text = ALPHABET[rest % 58] + text;
    rest = Math.floor(rest / 58);
  }
  return text;
}

/** The bytes of a base58 text, or null where it holds a character that is none or is over 16,384 long. */
export function decodeBase58(text: string): Uint8Array | null {
  if (text.length > MAX_LENGTH) return null;
  let zeros = 0;
  while (zeros < text.length && text[zeros] === '1') zeros += 1;
  const words: number[] = [];
  for (let at = zeros; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    let carry = code < 128 ? (VALUES[code] as number) : -1;
    if (carry < 0) return null;
    for (let word = 0; word < words.length; word += 1) {
      carry += (words[word] as number) * 58;
      words[word] = carry & 0xffff;
      carry >>>= 16;
    }
    if (carry > 0) words.push(carry);
  }
  const oddTop = words.length > 0 && (words.at(-1) as number) < 256;
  const bytes = new Uint8Array(zeros + words.length * 2 - (oddTop ? 1 : 0));
  let end = bytes.length;
  for (const word of words) {
    end -= 1;
    bytes[end] = word & 0xff;
    if (end > zeros) {
      end -= 1;
      bytes[end] = word >>> 8;
    }
  }
  return bytes;
}

/** A public key: exactly 32 bytes of base58, else null. */
export function decodeKey(text: string): Uint8Array | null {
  if (text.length < 32 || text.length > 44) return null;
  const bytes = decodeBase58(text);
  return bytes?.length === 32 ? bytes : null;
}
