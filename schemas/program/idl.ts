import idl from '../bankroll.idl.json' with { type: 'json' };

export type ScalarType = 'pubkey' | 'string' | 'bool' | 'u8' | 'u16' | 'u32' | 'u64' | 'i64';
export type FieldType = ScalarType | { array: ['u8', number] };

export interface IdlField {
  name: string;
  type: FieldType;
}

/** The first 8 bytes of data, one character each, as a key of a map. */
export type Discriminator = string;

/** The discriminator that data starts with; empty where it is shorter than 8 bytes. */
export function discriminatorOf(bytes: Uint8Array): Discriminator {
  if (bytes.length < 8) return '';
  const at = (index: number) => bytes[index] as number;
  return String.fromCharCode(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
}

const written = (bytes: number[]): Discriminator => String.fromCharCode(...bytes);

/** Names of accounts and of events by their discriminator, as the IDL has them. */
export const ACCOUNTS = new Map(idl.accounts.map((entry) => [written(entry.discriminator), entry.name]));
export const EVENTS = new Map(idl.events.map((entry) => [written(entry.discriminator), entry.name]));

export interface IdlInstruction {
  name: string;
  /** Snake case, in order. */
  accounts: string[];
  args: IdlField[];
  /** The events that it may emit; the first one always. */
  emits: string[];
}

/** The instructions that emit an event: which ones stands in their docs, for the IDL's format has no other place. */
export const INSTRUCTIONS_WITH_EVENT: ReadonlyMap<Discriminator, IdlInstruction> = new Map(
  idl.instructions.flatMap(({ name, discriminator, docs, accounts, args }) => {
    const emits = docs.flatMap((line) => line.match(/[A-Z]\w+/g) ?? []);
    if (emits.length === 0) return [];
    const names = accounts.map((account) => account.name);
    return [[written(discriminator), { name, accounts: names, args: args as IdlField[], emits }]];
  }),
);

/** The fields of a struct of the IDL, in order. @throws Error for a name that the IDL does not have. */
export function fieldsOf(struct: string): IdlField[] {
  const found = idl.types.find((entry) => entry.name === struct);
  if (found === undefined) throw new Error(`the IDL has no type ${struct}`);
  return found.type.fields as IdlField[];
}

export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
