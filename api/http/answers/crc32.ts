/** The polynomial of CRC-32 as gzip has it, bits in reverse order. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;

/** The product of two polynomials, modulo that of CRC-32. */
function product(a: number, b: number): number {
  let sum = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return sum >>> 0;
}

/** x to the power of 8, 16, 32 and so on: the factors for 1, 2, 4 … zero bytes behind what was counted. */
const ZEROS: number[] = [0x00800000];
for (let at = 1; at < 53; at += 1) ZEROS.push(product(ZEROS[at - 1] as number, ZEROS[at - 1] as number));

/**
 * The CRC-32 of two stretches of bytes behind each other, out of that of each. @param length of the second, in bytes
 */
export function combineCrc32(first: number, second: number, length: number): number {
  let moved = first;
  for (let at = 0, left = length; left > 0; at += 1, left = Math.floor(left / 2))
    if (left % 2 === 1) moved = product(ZEROS[at] as number, moved);
  return (moved ^ second) >>> 0;
}
