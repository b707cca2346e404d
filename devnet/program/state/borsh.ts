import { createHash } from 'node:crypto';
import type { TypedEvent } from './events.ts';
import { bytesOf } from './keys.ts';
import { ACCOUNT_LAYOUTS, EVENT_LAYOUTS, type Fields, type Layout, type Scalar } from './layouts.ts';

/** Values a field may hold: u64 and i64 are bigints, narrower integers numbers, keys base58, arrays of bytes. */
type Value = string | bigint | number | boolean | readonly number[];

const MAX_BYTES = 4096;
const scratch = Buffer.alloc(MAX_BYTES);

/** Each writes a value at `at` and returns the offset behind it. */
const WRITERS: Record<Scalar, (value: Value, at: number) => number> = {
  pubkey: (value, at) => {
    scratch.set(bytesOf(value as string), at);
    return at + 32;
  },
  string: (value, at) => {
    const size = Buffer.byteLength(value as string);
    scratch.writeUInt32LE(size, at);
    return at + 4 + scratch.write(value as string, at + 4);
  },
  bool: (value, at) => scratch.writeUInt8(value ? 1 : 0, at),
  u8: (value, at) => scratch.writeUInt8(value as number, at),
  u16: (value, at) => scratch.writeUInt16LE(value as number, at),
  u64: (value, at) => scratch.writeBigUInt64LE(value as bigint, at),
  i64: (value, at) => scratch.writeBigInt64LE(value as bigint, at),
  u8x8: (value, at) => {
    scratch.set(value as readonly number[], at);
    return at + 8;
  },
};

const discriminators = new Map<string, Buffer>();

/** First eight bytes of the hash of `account:Name`, `event:Name` or `global:snake_case_name`. */
function discriminator(namespaced: string): Buffer {
  const known = discriminators.get(namespaced);
  if (known !== undefined) return known;
  const bytes = createHash('sha256').update(namespaced).digest().subarray(0, 8);
  discriminators.set(namespaced, bytes);
  return bytes;
}

function encode(namespaced: string, layout: Layout, values: Record<string, Value>): Uint8Array {
  scratch.set(discriminator(namespaced));
  let at = 8;
  for (const [field, type] of Object.entries(layout)) {
    const value = values[field];
    if (value === undefined) throw new RangeError(`${namespaced} lacks ${field}`);
    at = WRITERS[type](value, at);
  }
  return new Uint8Array(scratch.subarray(0, at));
}

/** Account data of the program, discriminator first. @throws RangeError on a value outside its type. */
export function encodeAccount<N extends keyof typeof ACCOUNT_LAYOUTS>(
  name: N,
  value: Fields<(typeof ACCOUNT_LAYOUTS)[N]>,
): Uint8Array {
  return encode(`account:${name}`, ACCOUNT_LAYOUTS[name], value as Record<string, Value>);
}

/** An event of the program, discriminator first. @throws RangeError on a value outside its type. */
export function encodeEvent(event: TypedEvent): Uint8Array {
  return encode(`event:${event.kind}`, EVENT_LAYOUTS[event.kind], { ...event.fields });
}

/** Arguments of an instruction, in order: a bigint is a u64, all else one byte; a key is given as its 32 bytes. */
export type Arguments = readonly (bigint | number | boolean)[];

/** Instruction data: the discriminator, then the arguments. */
export function encodeInstruction(name: string, args: Arguments = []): Uint8Array {
  const parts = args.map((arg) => {
    if (typeof arg !== 'bigint') return Uint8Array.of(Number(arg));
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt.asIntN(64, arg));
    return bytes;
  });
  return new Uint8Array(Buffer.concat([discriminator(`global:${name}`), ...parts]));
}
