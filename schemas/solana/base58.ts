const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const VALUES = new Int8Array(128).fill(-1);
for (let value = 0; value < 58; value += 1) VALUES[CODES[value] as number] = value;

/** Five digits at a time: the largest power of 58 of which 32 products with 2^16 sum to an exact number. */
const LIMB = 58 ** 5;
/** Longest text that is worth reading; a transaction's instruction data stays below it: an inner one holds 10 kB. */
const MAX_LENGTH = 16_384;

/** Longer texts are read in halves: digit by digit takes as long as their length squared. Signatures have 88. */
const SHORT = 160;
/** Digits that are an exact number together. */
const PART = 8;
/** The weight of 1, 2, 4 parts and so on in front of as many others, up to the longest text. */
const WEIGHTS = [58n ** BigInt(PART)];
for (let parts = 2; parts * PART < MAX_LENGTH; parts *= 2) WEIGHTS.push((WEIGHTS.at(-1) as bigint) ** 2n);

/** For numbers of 2 · words bytes: the limbs of each power of 2^16, highest limb first, so that encoding is a sum. */
interface Table {
  limbs: number;
  weights: Float64Array;
  sums: Float64Array;
}

function tableFor(words: number): Table {
  const limbs = Math.ceil((words * 16) / Math.log2(LIMB));
  const weights = new Float64Array(words * limbs);
  for (let word = 0; word < words; word += 1) {
    let rest = 1n << BigInt(16 * (words - 1 - word));
    for (let limb = limbs - 1; limb >= 0; limb -= 1) {
      weights[word * limbs + limb] = Number(rest % BigInt(LIMB));
      rest /= BigInt(LIMB);
    }
  }
  return { limbs, weights, sums: new Float64Array(limbs) };
}

const KEY = tableFor(16);
const SIGNATURE = tableFor(32);
const digits = Buffer.alloc(100);

/** Base58 text of any bytes, in the alphabet of keys and signatures. Keys and signatures are the fast case. */
export function encodeBase58(bytes: Uint8Array): string {
  if (bytes.length === 32) return encodeFixed(bytes, KEY);
  if (bytes.length === 64) return encodeFixed(bytes, SIGNATURE);
  return encodeAny(bytes);
}

function leadingZeros(bytes: Uint8Array): number {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  return zeros;
}

function encodeFixed(bytes: Uint8Array, { limbs, weights, sums }: Table): string {
  sums.fill(0);
  for (let at = 0, weight = 0; at < bytes.length; at += 2) {
    const word = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    for (let limb = 0; limb < limbs; limb += 1, weight += 1) {
      (sums[limb] as number) += word * (weights[weight] as number);
    }
  }
  let end = limbs * 5;
  let carry = 0;
  for (let limb = limbs - 1; limb >= 0; limb -= 1) {
    const sum = (sums[limb] as number) + carry;
    carry = Math.floor(sum / LIMB);
    let rest = sum - carry * LIMB;
    for (let digit = 0; digit < 5; digit += 1) {
      const next = (rest / 58) | 0;
      end -= 1;
      digits[end] = CODES[rest - next * 58] as number;
      rest = next;
    }
  }
  let start = 0;
  while (start < limbs * 5 && digits[start] === CODES[0]) start += 1;
  // Each zero byte in front is written as one zero digit, and the limbs have at least as many zero digits in front.
  return digits.toString('latin1', start - leadingZeros(bytes), limbs * 5);
}

function encodeAny(bytes: Uint8Array): string {
  const zeros = leadingZeros(bytes);
  const limbs: number[] = [];
  for (let at = zeros; at < bytes.length; at += 1) {
    let carry = bytes[at] as number;
    for (let limb = 0; limb < limbs.length; limb += 1) {
      carry += (limbs[limb] as number) * 256;
      const high = Math.floor(carry / LIMB);
      limbs[limb] = carry - high * LIMB;
      carry = high;
    }
    if (carry > 0) limbs.push(carry);
  }
  let text = '';
  for (const limb of limbs.reverse()) {
    for (let power = LIMB / 58; power >= 1; power /= 58) text += ALPHABET[Math.floor(limb / power) % 58];
  }
  return '1'.repeat(zeros) + text.replace(/^1+/, '');
}

/** The bytes of a base58 text, or null where it holds a character that is no digit or is over 16,384 long. */
export function decodeBase58(text: string): Uint8Array | null {
  if (text.length > MAX_LENGTH) return null;
  let zeros = 0;
  while (zeros < text.length && text.charCodeAt(zeros) === CODES[0]) zeros += 1;
  if (text.length - zeros > SHORT) return decodeLong(text, zeros);
  /** 16 bits each, lowest first. */
  const words: number[] = [];
  for (let at = zeros; at < text.length; ) {
    let carry = 0;
    let scale = 1;
    for (let digit = 0; digit < 5 && at < text.length; digit += 1, at += 1) {
      const value = valueAt(text, at);
      if (value < 0) return null;
      carry = carry * 58 + value;
      scale *= 58;
    }
    for (let word = 0; word < words.length; word += 1) {
      carry += (words[word] as number) * scale;
      const high = Math.floor(carry / 65536);
      words[word] = carry - high * 65536;
      carry = high;
    }
    for (; carry > 0; carry = Math.floor(carry / 65536)) words.push(carry % 65536);
  }
  return bytesOf(words, zeros);
}

/** -1 for a character that is no digit. */
function valueAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (VALUES[code] as number) : -1;
}

function decodeLong(text: string, zeros: number): Uint8Array | null {
  /** Lowest first; each round joins two neighbours into one. */
  let parts: bigint[] = [];
  for (let end = text.length; end > zeros; end -= PART) {
    let part = 0;
    for (let at = Math.max(zeros, end - PART); at < end; at += 1) {
      const value = valueAt(text, at);
      if (value < 0) return null;
      part = part * 58 + value;
    }
    parts.push(BigInt(part));
  }
  for (let round = 0; parts.length > 1; round += 1) {
    const weight = WEIGHTS[round] as bigint;
    const joined: bigint[] = [];
    for (let at = 0; at < parts.length; at += 2)
      joined.push((parts[at] as bigint) + (parts[at + 1] ?? 0n) * weight);
    parts = joined;
  }
  const hex = (parts[0] as bigint).toString(16);
  const number = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const bytes = new Uint8Array(zeros + number.length);
  bytes.set(number, zeros);
  return bytes;
}

function bytesOf(words: readonly number[], zeros: number): Uint8Array {
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
