/** A field of a protobuf message with its undecoded value: a number for varints, bytes for everything else. */
export interface WireField {
  number: number;
  value: bigint | Uint8Array;
}

/**
 * Walks the fields of a protobuf message without decoding what is inside them.
 * @throws RangeError where the bytes end inside a field.
 */
export function* wireFields(bytes: Uint8Array): Generator<WireField> {
  let at = 0;
  const varint = (): bigint => {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 10; count += 1) {
      const byte = bytes[at];
      if (byte === undefined) break;
      at += 1;
      // Below 2^49 a number is exact and many times faster.
      if (count < 7) {
        value += (byte & 0x7f) * factor;
        factor *= 128;
        if (byte < 128) return BigInt(value);
      } else return longVarint(bytes, at - 1 - count, (end) => (at = end));
    }
    throw new RangeError('a varint goes past the end');
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    const type = tag & 7;
    if (type === 0) {
      yield { number, value: varint() };
      continue;
    }
    const length = type === 2 ? Number(varint()) : type === 1 ? 8 : type === 5 ? 4 : Number.NaN;
    if (!(at + length <= bytes.length)) throw new RangeError(`field ${number} goes past the end`);
    yield { number, value: bytes.subarray(at, at + length) };
    at += length;
  }
}

function longVarint(bytes: Uint8Array, start: number, moveTo: (end: number) => void): bigint {
  let value = 0n;
  for (let count = 0; count < 10; count += 1) {
    const byte = bytes[start + count];
    if (byte === undefined) break;
    value |= BigInt(byte & 0x7f) << BigInt(7 * count);
    if (byte < 128) {
      moveTo(start + count + 1);
      return BigInt.asUintN(64, value);
    }
  }
  throw new RangeError('a varint goes past the end');
}
