import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { NOT_READ_SINCE_ADDED, plainView } from '../../../api/coin/plain-view.ts';
import type { Plain } from '../../../schemas/program/account-fields.ts';
import { plainSchemas } from '../../../schemas/responses/coin/coin.ts';

/** As if these columns had been added to policies. */
const FIELDS = [
  { column: 'risk', kind: 'number', added: false },
  { column: 'target_leverage_x', kind: 'number', added: true },
  { column: 'locked', kind: 'flag', added: true },
] as const satisfies Plain[];
const schema = Type.Object(plainSchemas(FIELDS), { additionalProperties: false });

const shown = (columns: object) => plainView(columns as Parameters<typeof plainView>[0], FIELDS);

test('a field added after a row was written is null with the reason, not zero', () => {
  const view = shown({ risk: 0, target_leverage_x: null, locked: null });
  expect(view).toEqual({
    risk: 0,
    targetLeverageX: null,
    targetLeverageXAbsentReason: NOT_READ_SINCE_ADDED,
    locked: null,
    lockedAbsentReason: NOT_READ_SINCE_ADDED,
  });
  expect(Value.Check(schema, view)).toBe(true);
});

test('an added field that is zero is served as zero once the account was read again', () => {
  const view = shown({ risk: 0, target_leverage_x: 0, locked: 0 });
  expect(view).toEqual({ risk: 0, targetLeverageX: 0, locked: false });
  expect(Value.Check(schema, view)).toBe(true);
});

test('the response schema accepts null only for added fields', () => {
  const view = shown({ risk: null, target_leverage_x: 1, locked: 1 });
  expect(Value.Check(schema, view)).toBe(false);
});
