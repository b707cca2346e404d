import idl from './bankroll.idl.json' with { type: 'json' };
import { MalformedError } from './malformed.ts';

export type ScalarType = 'pubkey' | 'string' | 'bool' | 'u8' | 'u16' | 'u32' | 'u64' | 'i64';
export type FieldType = ScalarType | { array: ['u8', number] };
export type FieldValue = Uint8Array | string | boolean | number | bigint;

interface Field {
  name: string;
  type: FieldType;
}

/** Bytes and the place in them; moved along by fields of variable length. */
interface Cursor {
  bytes: Uint8Array;
  view: DataView;
  /** What strings have added to the constant offsets so far. */
  shift: number;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** Longest string that is a name and not an attack; an account holds 10 MB at most. */
const MAX_STRING = 10_485_760;

const SIZES: Record<ScalarType, number> = {
  pubkey: 32,
  string: 4,
  bool: 1,
  u8: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  i64: 8,
};

export type Discriminator = string;

/** The first 8 bytes of data, as a key of a map. */
export function discriminatorOf(bytes: Uint8Array): Discriminator {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(8, bytes.length)).toString('latin1');
}

const written = (bytes: number[]): Discriminator => Buffer.from(bytes).toString('latin1');

/** Names of accounts or events by their discriminator, as the IDL has them. */
export const ACCOUNTS = new Map(idl.accounts.map((entry) => [written(entry.discriminator), entry.name]));
export const EVENTS = new Map(idl.events.map((entry) => [written(entry.discriminator), entry.name]));

/** The events that an instruction always emits at least one of, by the instruction's discriminator. */
export const EMITTING = new Map(
  idl.instructions
    .filter((instruction) => instruction.docs.some((line) => line.startsWith('emits ') && line !== 'emits nothing'))
    .map((instruction) => [written(instruction.discriminator), instruction.name]),
);

/**
 * A reader of the struct `name`, made from the IDL: fields in camelCase, keys as views of the bytes, u64 and i64 as
 * bigint. It starts behind the discriminator and accepts longer data.
 * @throws MalformedError from the reader where the bytes are too few, a bool is neither 0 nor 1, or a string is not UTF-8.
 */
export function structReader(name: string): (data: Uint8Array) => Record<string, FieldValue> {
  const type = idl.types.find((entry) => entry.name === name);
  if (type === undefined) throw new Error(`the IDL has no type ${name}`);
  let offset = 8;
  const fields = (type.type.fields as Field[]).map((field) => {
    const at = offset;
    offset += typeof field.type === 'string' ? SIZES[field.type] : field.type.array[1];
    return { key: camelCase(field.name), read: fieldReader(name, field, at) };
  });
  const size = offset;
  return (data) => {
    if (data.length < size) throw new MalformedError(name, `${data.length} bytes, needs ${size}`);
    const cursor = { bytes: data, view: new DataView(data.buffer, data.byteOffset, data.length), shift: 0 };
    const struct: Record<string, FieldValue> = {};
    for (const field of fields) struct[field.key] = field.read(cursor);
    return struct;
  };
}

function fieldReader(struct: string, field: Field, at: number): (cursor: Cursor) => FieldValue {
  const what = `${struct}.${field.name}`;
  const guarded = (size: number, cursor: Cursor): number => {
    const place = at + cursor.shift;
    if (place + size > cursor.bytes.length) throw new MalformedError(what, 'the bytes end before it');
    return place;
  };
  if (typeof field.type !== 'string') {
    const size = field.type.array[1];
    return (cursor) => {
      const place = guarded(size, cursor);
      return cursor.bytes.subarray(place, place + size);
    };
  }
  switch (field.type) {
    case 'pubkey':
      return (cursor) => {
        const place = guarded(32, cursor);
        return cursor.bytes.subarray(place, place + 32);
      };
    case 'bool':
      return (cursor) => {
        const byte = cursor.bytes[guarded(1, cursor)] as number;
        if (byte > 1) throw new MalformedError(what, `${byte} is no bool`);
        return byte === 1;
      };
    case 'u8':
      return (cursor) => cursor.bytes[guarded(1, cursor)] as number;
    case 'u16':
      return (cursor) => cursor.view.getUint16(guarded(2, cursor), true);
    case 'u32':
      return (cursor) => cursor.view.getUint32(guarded(4, cursor), true);
    case 'u64':
      return (cursor) => cursor.view.getBigUint64(guarded(8, cursor), true);
    case 'i64':
      return (cursor) => cursor.view.getBigInt64(guarded(8, cursor), true);
    case 'string':
      return (cursor) => {
        const place = guarded(4, cursor);
        const length = cursor.view.getUint32(place, true);
        if (length > MAX_STRING || place + 4 + length > cursor.bytes.length) {
          throw new MalformedError(what, `a string of ${length} bytes goes past the end`);
        }
        cursor.shift += length;
        try {
          return UTF8.decode(cursor.bytes.subarray(place + 4, place + 4 + length));
        } catch {
          throw new MalformedError(what, 'not UTF-8');
        }
      };
  }
}

function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
