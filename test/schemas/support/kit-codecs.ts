import {
  addCodecSizePrefix,
  type Codec,
  fixCodecSize,
  getAddressCodec,
  getBooleanCodec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU8Codec,
  getU16Codec,
  getU32Codec,
  getU64Codec,
  getUtf8Codec,
} from '@solana/kit';
import idl from '../../../schemas/bankroll.idl.json' with { type: 'json' };
import { camelCase, type FieldType, fieldsOf, type ScalarType } from '../../../schemas/program/idl.ts';

/** Codecs of an independent library, the oracle of ours and the baseline of the benchmarks. */
const SCALARS: Record<ScalarType, () => unknown> = {
  pubkey: getAddressCodec,
  string: () => addCodecSizePrefix(getUtf8Codec(), getU32Codec()),
  bool: getBooleanCodec,
  u8: getU8Codec,
  u16: getU16Codec,
  u32: getU32Codec,
  u64: getU64Codec,
  i64: getI64Codec,
};

function codecOf(type: FieldType): unknown {
  return typeof type === 'string' ? SCALARS[type]() : fixCodecSize(getBytesCodec(), type.array[1]);
}

export type KitValue = Record<string, unknown>;

/** Kit's codec of a struct of the IDL, its 8 bytes of discriminator as the field `discriminator`. */
export function kitCodec(name: string): Codec<KitValue> {
  const fields = fieldsOf(name).map((field) => [camelCase(field.name), codecOf(field.type)] as const);
  const all = [['discriminator', fixCodecSize(getBytesCodec(), 8)], ...fields];
  return getStructCodec(all as never) as unknown as Codec<KitValue>;
}

/** The discriminator of an account, event or instruction, as the IDL has it. */
export function discriminator(name: string): Uint8Array {
  const entry = [...idl.accounts, ...idl.events, ...idl.instructions].find((known) => known.name === name);
  if (entry === undefined) throw new Error(`the IDL has no ${name}`);
  return Uint8Array.from(entry.discriminator);
}

const codecs = new Map<string, Codec<KitValue>>();

/** Bytes of an account or event, written by kit. @throws where a field is missing: kit would write zeros */
export function kitEncode(name: string, fields: KitValue): Uint8Array {
  for (const field of fieldsOf(name))
    if (fields[camelCase(field.name)] === undefined) throw new Error(`${name} is given no ${field.name}`);
  const codec = codecs.get(name) ?? kitCodec(name);
  codecs.set(name, codec);
  return Uint8Array.from(codec.encode({ discriminator: discriminator(name), ...fields }));
}
