/**
 * The bytes in a buffer of their own. Small ones are a slice of 64 kB, shared with others or, where zlib made them, to
 * themselves: to keep them would keep all of that.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
