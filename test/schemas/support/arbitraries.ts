import fc from 'fast-check';
import {
  camelCase,
  EVENTS,
  type FieldType,
  fieldsOf,
  type ScalarType,
} from '../../../schemas/program/idl.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import type { KitValue } from './kit-codecs.ts';

/** Printed with every failure; a run is repeated by setting it. */
export const SEED = Number(process.env.FC_SEED ?? 20_261_121);

export const anyKey = fc.uint8Array({ minLength: 32, maxLength: 32 });

const SCALARS: Record<ScalarType, () => fc.Arbitrary<unknown>> = {
  pubkey: () => anyKey.map(encodeBase58),
  // Kit drops zero characters of a text, and cannot write half of a surrogate pair.
  string: () => fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', '')),
  bool: fc.boolean,
  u8: () => fc.integer({ min: 0, max: 0xff }),
  u16: () => fc.integer({ min: 0, max: 0xffff }),
  u32: () => fc.integer({ min: 0, max: 0xffff_ffff }),
  u64: () => fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  i64: () => fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
};

/** Fields that have fewer values than their type. */
const NARROWER: Record<string, fc.Arbitrary<unknown>> = {
  mode: fc.constantFrom(0, 1),
  kind: fc.constantFrom(0, 1),
  by: fc.constantFrom(0, 1, 2),
  assetClass: fc.integer({ min: 0, max: 7 }).map((bit) => 1 << bit),
};

function anyField(key: string, type: FieldType): fc.Arbitrary<unknown> {
  if (typeof type !== 'string') return fc.uint8Array({ minLength: type.array[1], maxLength: type.array[1] });
  return NARROWER[key] ?? SCALARS[type]();
}

const structs = new Map<string, fc.Arbitrary<KitValue>>();

/** Well-formed values of an IDL struct, as kit takes them; kept, since an arbitrary of strings is slow to make. */
export function anyStruct(name: string): fc.Arbitrary<KitValue> {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const entries = fieldsOf(name).map((field) => {
    const key = camelCase(field.name);
    return [key, anyField(key, field.type)];
  });
  const struct = fc.record(Object.fromEntries(entries)) as fc.Arbitrary<KitValue>;
  structs.set(name, struct);
  return struct;
}

/** Well-formed events of any kind. */
export const anyEvent: fc.Arbitrary<{ name: string; fields: KitValue }> = fc
  .constantFrom(...EVENTS.values())
  .chain((name) => anyStruct(name).map((fields) => ({ name, fields })));
