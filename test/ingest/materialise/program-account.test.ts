import { expect, test } from 'vitest';
import { readAccount } from '../../../ingest/materialise/rows/account.ts';
import { ACCOUNT_FIELDS, type AccountType, type FieldKind } from '../../../schemas/program/account-fields.ts';
import { camelCase, fieldsOf } from '../../../schemas/program/idl.ts';
import { type KitValue, kitEncode } from '../../schemas/support/kit-codecs.ts';
import { account, key, PROGRAM } from './support/records.ts';

const TYPES = Object.keys(ACCOUNT_FIELDS) as AccountType[];
const LIST = [9, 8, 7, 6, 5, 4, 3, 2];

/** A value that no other field has, as kit takes it and as its column should have it. @param at the field's index */
const VALUES: Record<FieldKind, (name: string, at: number) => [given: unknown, stored: unknown]> = {
  key: (name) => [key(name), key(name)],
  keyOrNone: (name) => [key(name), key(name)],
  hex: (_, at) => [new Uint8Array(32).fill(100 + at), (100 + at).toString(16).repeat(32)],
  numbers: () => [Uint8Array.from(LIST), LIST],
  text: (name) => [`a ${name}`, `a ${name}`],
  flag: (_, at) => [at % 2 === 1, at % 2],
  number: (_, at) => [100 + at, 100 + at],
  amount: (_, at) => [10n ** 18n + BigInt(at), `1${String(at).padStart(18, '0')}`],
  mode: () => [1, 'Agent'],
  venueKind: () => [1, 'Remote'],
};

/** One bit. */
const CLASS: [number, number] = [32, 32];

test.each(TYPES)('every column of a %s has the value of its own field', (type) => {
  const fields: Record<string, readonly [FieldKind, string, ...unknown[]]> = ACCOUNT_FIELDS[type];
  const given: KitValue = {};
  const expected: Record<string, unknown> = {};
  for (const [at, { name }] of fieldsOf(type).entries()) {
    const [kind, served] = fields[name] as readonly [FieldKind, string];
    const [value, stored] = name === 'asset_class' ? CLASS : VALUES[kind](name, at);
    given[camelCase(name)] = value;
    if (served !== 'not stored') expected[name] = stored;
  }
  const state = readAccount(account('an address', PROGRAM, kitEncode(type, given)), PROGRAM);
  expect(typeof state === 'string' ? state : state.columns()).toMatchObject(expected);
});
