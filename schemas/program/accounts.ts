import { MalformedError } from '../malformed.ts';
import {
  type Account,
  type AccountType,
  type Mode,
  mustHaveFields,
  type VenueKind,
} from './account-fields.ts';
import { ACCOUNTS, discriminatorOf, fieldsOf } from './idl.ts';
import { type FieldValue, type Struct, structReader } from './struct.ts';

export type ProtocolConfig = Account<'ProtocolConfig'>;
export type Origin = Account<'Origin'>;
export type Model = Account<'Model'>;
export type Policy = Account<'Policy'>;
export type VenueAccount = Account<'VenueAccount'>;
export type ProgramAccount = { [T in AccountType]: Account<T> }[AccountType];
export type { AccountType, Mode, VenueKind };

export const MODES: readonly Mode[] = ['Passive', 'Agent'];
export const VENUE_KINDS: readonly VenueKind[] = ['Local', 'Remote'];

/** The name of an enumeration's value. @throws MalformedError where it is out of range. */
export function nameOf<T extends string>(
  names: readonly T[],
  value: FieldValue | undefined,
  what: string,
): T {
  const name = names[value as number];
  if (name === undefined) throw new MalformedError(what, `${String(value)} is out of range`);
  return name;
}

/** An asset class is exactly one bit. @throws MalformedError */
export function checkAssetClass(value: number, what: string): void {
  if (value === 0 || (value & (value - 1)) !== 0)
    throw new MalformedError(what, `${value} is not one class bit`);
}

const readers: Record<AccountType, (data: Uint8Array) => ProgramAccount> = {
  ProtocolConfig: typed('ProtocolConfig', () => {}),
  Origin: typed('Origin', () => {}),
  Model: typed('Model', () => {}),
  Policy: typed('Policy', (fields) => {
    fields.mode = nameOf(MODES, fields.mode, 'Policy.mode');
  }),
  VenueAccount: typed('VenueAccount', (fields) => {
    fields.kind = nameOf(VENUE_KINDS, fields.kind, 'VenueAccount.kind');
    checkAssetClass(fields.assetClass as number, 'VenueAccount.asset_class');
  }),
};

function typed(type: AccountType, check: (fields: Struct) => void): (data: Uint8Array) => ProgramAccount {
  mustHaveFields(type, fieldsOf(type));
  const read = structReader(type, { type });
  return (data) => {
    const fields = read(data);
    check(fields);
    return fields as unknown as ProgramAccount;
  };
}

/** The first bytes of each type of account. */
export const ACCOUNT_PREFIXES: readonly Uint8Array[] = [...ACCOUNTS.keys()].map((key) =>
  Buffer.from(key, 'latin1'),
);

/** The name of the account that these bytes claim to be, or null for an unknown discriminator. */
export function accountType(data: Uint8Array): AccountType | null {
  return (ACCOUNTS.get(discriminatorOf(data)) as AccountType | undefined) ?? null;
}

/**
 * Reads an account of the program.
 * @throws MalformedError for an unknown discriminator, too few bytes, or a bool, enum, asset class or string out of range.
 */
export function decodeAccount(data: Uint8Array): ProgramAccount {
  const type = accountType(data);
  if (type === null) throw new MalformedError('account', 'unknown discriminator');
  return readers[type](data);
}

const readModelId = structReader('Policy', {}, (key) => key === 'modelId');

/** The model id in a policy's bytes; nothing else of them is read. @throws MalformedError where they are too few. */
export const modelIdOf = (policy: Uint8Array): number => readModelId(policy).modelId as number;
