/** Writes fields one behind the other into a buffer that grows. */
export interface ByteWriter {
  u8(value: number): void;
  u64(value: bigint): void;
  /** A safe integer, or null. */
  optionalNumber(value: number | null): void;
  optionalU64(value: bigint | null): void;
  bytes(value: Uint8Array): void;
  text(value: string): void;
  finish(): Buffer;
}

export function createByteWriter(expected: number): ByteWriter {
  let buffer = Buffer.allocUnsafe(expected);
  let at = 0;
  const room = (size: number) => {
    const start = at;
    at += size;
    if (at > buffer.length) {
      const wider = Buffer.allocUnsafe(Math.max(at, buffer.length * 2));
      buffer.copy(wider, 0, 0, start);
      buffer = wider;
    }
    return start;
  };
  const writer: ByteWriter = {
    u8: (value) => {
      // Reserve the place first: that may replace the buffer.
      const start = room(1);
      buffer.writeUInt8(value, start);
    },
    u64: (value) => {
      const start = room(8);
      buffer.writeBigUInt64LE(value, start);
    },
    optionalNumber: (value) => {
      const start = room(value === null ? 1 : 9);
      buffer.writeUInt8(value === null ? 0 : 1, start);
      if (value !== null) buffer.writeDoubleLE(value, start + 1);
    },
    optionalU64: (value) => {
      writer.u8(value === null ? 0 : 1);
      if (value !== null) writer.u64(value);
    },
    bytes: (value) => {
      const start = room(4 + value.length);
      buffer.writeUInt32LE(value.length, start);
      buffer.set(value, start + 4);
    },
    text: (value) => writer.bytes(Buffer.from(value, 'utf8')),
    finish: () => buffer.subarray(0, at),
  };
  return writer;
}

/** Reads what a ByteWriter wrote. Every call throws RangeError where the bytes end too early. */
export interface ByteReader {
  u8(): number;
  u64(): bigint;
  optionalNumber(): number | null;
  optionalU64(): bigint | null;
  /** A view of the input. */
  bytes(): Uint8Array;
  text(): string;
  /** Whether nothing is left. */
  ended(): boolean;
  /** @throws RangeError where something is left. */
  end(): void;
}

export function createByteReader(input: Uint8Array): ByteReader {
  const buffer = Buffer.from(input.buffer, input.byteOffset, input.length);
  let at = 0;
  const take = (size: number) => {
    const start = at;
    at += size;
    if (at > buffer.length) throw new RangeError('a record that ends too early');
    return start;
  };
  const reader: ByteReader = {
    u8: () => buffer.readUInt8(take(1)),
    u64: () => buffer.readBigUInt64LE(take(8)),
    optionalNumber: () => (reader.u8() === 0 ? null : buffer.readDoubleLE(take(8))),
    optionalU64: () => (reader.u8() === 0 ? null : reader.u64()),
    bytes: () => {
      const length = buffer.readUInt32LE(take(4));
      const start = take(length);
      return buffer.subarray(start, start + length);
    },
    text: () => Buffer.from(reader.bytes()).toString('utf8'),
    ended: () => at === buffer.length,
    end: () => {
      if (at !== buffer.length) throw new RangeError('a record with something behind it');
    },
  };
  return reader;
}
