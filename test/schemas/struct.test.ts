import { expect, test } from 'vitest';
import type { IdlField } from '../../schemas/program/idl.ts';
import { fieldsReader } from '../../schemas/program/struct.ts';

const FIELDS: IdlField[] = [
  { name: 'first', type: 'u8' },
  { name: 'some_text', type: 'string' },
  { name: 'last', type: 'u16' },
];
const data = Buffer.concat([Buffer.alloc(8), Buffer.of(7, 2, 0, 0, 0, 0x68, 0x69, 1, 2)]);

test('of a struct only what is asked for is read, also behind a string', () => {
  expect(fieldsReader('S', FIELDS)(data)).toEqual({ first: 7, someText: 'hi', last: 513 });
  expect(fieldsReader('S', FIELDS, {}, (key) => key !== 'someText')(data)).toEqual({ first: 7, last: 513 });
  expect(fieldsReader('S', FIELDS, {}, (key) => key === 'someText')(data)).toEqual({ someText: 'hi' });
});
