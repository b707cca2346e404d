import { MalformedError } from '../malformed.ts';
import { camelCase, type FieldType, fieldsOf, type IdlField, type ScalarType } from './idl.ts';

export type FieldValue = Uint8Array | string | boolean | number | bigint;
export type Struct = Record<string, FieldValue>;

/** The constant part of each type; a string adds what it holds. */
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

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

interface Placed {
  name: string;
  key: string;
  type: ScalarType | 'bytes';
  size: number;
  /** Offset where no string before it holds anything. */
  at: number;
}

function place(struct: string, fields: readonly IdlField[]): { placed: Placed[]; size: number } {
  let at = 8;
  const placed = fields.map(({ name, type }) => {
    const size = sizeOf(type);
    // Refused at once: all fields behind it would be read at wrong offsets.
    if (size === null)
      throw new Error(`the IDL's ${struct}.${name} is of a type that is not read: ${JSON.stringify(type)}`);
    const field: Placed = {
      name,
      key: camelCase(name),
      type: typeof type === 'string' ? type : 'bytes',
      size,
      at,
    };
    at += size;
    return field;
  });
  return { placed, size: at };
}

/** Null for a type that is not read: an IDL that replaces this one may have such types. */
function sizeOf(type: FieldType): number | null {
  if (typeof type === 'string') return Object.hasOwn(SIZES, type) ? SIZES[type] : null;
  const [of, size] = type.array ?? [];
  return of === 'u8' && Number.isInteger(size) && size >= 0 ? size : null;
}

/** Whether a reader can be made of these fields. */
export const areReadable = (fields: readonly IdlField[]): boolean =>
  fields.every(({ type }) => sizeOf(type) !== null);

/**
 * A reader of the struct `name`, made from the IDL: fields in camelCase, keys as views of the bytes, u64 and i64 as
 * bigint. It starts behind the discriminator and accepts longer data.
 * @param constants what every struct read carries besides.
 * @param takes which fields to read, by camelCase key; all unless told.
 * @throws MalformedError from the reader where the bytes are too few, a bool is neither 0 nor 1, or a string is not UTF-8.
 */
export function structReader(
  name: string,
  constants: Struct = {},
  takes: (key: string) => boolean = () => true,
): (data: Uint8Array) => Struct {
  return fieldsReader(name, fieldsOf(name), constants, takes);
}

/** The same for any list of fields. @throws Error for a field of a type that is not read. */
export function fieldsReader(
  name: string,
  listed: readonly IdlField[],
  constants: Struct = {},
  takes: (key: string) => boolean = () => true,
): (data: Uint8Array) => Struct {
  const { placed, size } = place(name, listed);
  // What stands behind a string depends on its length, whether it is taken or not.
  const fields = placed
    .map((field) => ({ ...field, taken: takes(field.key) }))
    .filter(({ taken, type }) => taken || type === 'string');
  const keyed: Struct = { ...constants };
  for (const { key, taken } of fields) if (taken) keyed[key] = 0;
  // Keys added one by one make a dictionary; a copy of it has a hidden class, which the copies of the copy share.
  const blank = { ...keyed };
  return (data) => {
    if (data.length < size) throw new MalformedError(name, `${data.length} bytes, needs ${size}`);
    const view = new DataView(data.buffer, data.byteOffset, data.length);
    const struct = { ...blank };
    let shift = 0;
    for (const field of fields) {
      const at = field.at + shift;
      if (field.type === 'string') {
        const length = view.getUint32(at, true);
        shift += length;
        if (size + shift > data.length)
          throw malformed(name, field, `a string of ${length} bytes goes past the end`);
        if (field.taken) struct[field.key] = text(name, field, data.subarray(at + 4, at + 4 + length));
      } else {
        struct[field.key] = scalar(name, field, data, view, at);
      }
    }
    return struct;
  };
}

function scalar(struct: string, field: Placed, data: Uint8Array, view: DataView, at: number): FieldValue {
  switch (field.type) {
    case 'u8':
      return data[at] as number;
    case 'u16':
      return view.getUint16(at, true);
    case 'u32':
      return view.getUint32(at, true);
    case 'u64':
      return view.getBigUint64(at, true);
    case 'i64':
      return view.getBigInt64(at, true);
    case 'bool': {
      const byte = data[at] as number;
      if (byte > 1) throw malformed(struct, field, `${byte} is no bool`);
      return byte === 1;
    }
    default:
      return data.subarray(at, at + field.size);
  }
}

function text(struct: string, field: Placed, bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw malformed(struct, field, 'not UTF-8');
  }
}

function malformed(struct: string, field: Placed, reason: string): MalformedError {
  return new MalformedError(`${struct}.${field.name}`, reason);
}
