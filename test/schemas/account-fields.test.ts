import { expect, test } from 'vitest';
import {
  ACCOUNT_FIELDS,
  type AccountType,
  columnList,
  type FieldKind,
  mustHaveFields,
} from '../../schemas/program/account-fields.ts';
import { ACCOUNTS, type FieldType, fieldsOf } from '../../schemas/program/idl.ts';

const TYPES = Object.keys(ACCOUNT_FIELDS) as AccountType[];

/** The IDL types that each kind of field may be made from. */
const MADE_FROM: Record<FieldKind, readonly FieldType[]> = {
  key: ['pubkey'],
  keyOrNone: ['pubkey'],
  hex: [{ array: ['u8', 32] }],
  numbers: [{ array: ['u8', 8] }],
  text: ['string'],
  flag: ['bool'],
  number: ['u8', 'u16', 'u32'],
  amount: ['u64', 'i64'],
  mode: ['u8'],
  venueKind: ['u8'],
};

test('ACCOUNT_FIELDS lists exactly the account types of the IDL', () => {
  expect([...ACCOUNTS.values()].sort()).toEqual([...TYPES].sort());
});

test.each(TYPES)(
  'every field of %s in the IDL has an entry in ACCOUNT_FIELDS, in order, of a kind that fits its type',
  (type) => {
    const idl = fieldsOf(type);
    const fields: Record<string, readonly [FieldKind, ...unknown[]]> = ACCOUNT_FIELDS[type];
    expect(Object.keys(ACCOUNT_FIELDS[type])).toEqual(idl.map(({ name }) => name));
    for (const { name, type: given } of idl) {
      const [kind] = fields[name] as readonly [FieldKind, ...unknown[]];
      expect(MADE_FROM[kind], `${type}.${name} is ${JSON.stringify(given)}`).toContainEqual(given);
    }
  },
);

test('an IDL whose Policy lacks a field that is read is refused with the name of the field', () => {
  const without = fieldsOf('Policy').filter(({ name }) => name !== 'hwm');
  expect(() => mustHaveFields('Policy', without)).toThrow("the IDL's Policy lacks hwm");
});

test('a field that is not stored is not in the list of columns', () => {
  expect(columnList('Origin')).toBe('id, name, asset_class_mask, max_risk');
});
