import { expect, test } from 'vitest';
import type { IdlField } from '../../schemas/program/idl.ts';
import { areReadable, fieldsReader } from '../../schemas/program/struct.ts';

const FIELDS: IdlField[] = [
  { name: 'first', type: 'u8' },
  { name: 'some_text', type: 'string' },
  { name: 'last', type: 'u16' },
];
const data = Buffer.concat([Buffer.alloc(8), Buffer.of(7, 2, 0, 0, 0, 0x68, 0x69, 1, 2)]);

test('a struct reader returns only the fields that are asked for, also those after a skipped string', () => {
  expect(fieldsReader('S', FIELDS)(data)).toEqual({ first: 7, someText: 'hi', last: 513 });
  expect(fieldsReader('S', FIELDS, {}, (key) => key !== 'someText')(data)).toEqual({ first: 7, last: 513 });
  expect(fieldsReader('S', FIELDS, {}, (key) => key === 'someText')(data)).toEqual({ someText: 'hi' });
});

test('a struct field of an unsupported type is refused with its name when the reader is made', () => {
  const types = ['u128', 'i32', 'bytes', { array: ['u16', 4] }, { array: ['u8', -1] }, { option: 'u64' }];
  for (const type of types) {
    const fields = [...FIELDS, { name: 'odd_one', type } as unknown as IdlField];
    expect(() => fieldsReader('S', fields)).toThrow("the IDL's S.odd_one is of a type that is not read:");
    expect(areReadable(fields)).toBe(false);
  }
  expect(areReadable(FIELDS)).toBe(true);
});
