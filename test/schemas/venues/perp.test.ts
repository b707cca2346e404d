import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../../schemas/malformed.ts';
import { perpAddress, readClearinghouseState, valueIsEquity } from '../../../schemas/venues/perp.ts';
import { fixture } from '../support/fixtures.ts';

describe('recorded account states', () => {
  test.each([
    ['live-2026-10-06', { equity: 41085992921346n, notional: 0n, time: 1791304588904 }],
    ['docs-isolated', { equity: 13109482328n, notional: 100027650n, time: 1708622398623 }],
    ['empty-account', { equity: 0n, notional: 0n, time: 1769754306819 }],
  ])(
    '%s: equity and notional are rounded down to six decimals and include isolated positions',
    (name, expected) => {
      expect(readClearinghouseState(fixture(`perp_venue/clearinghouseState-${name}.json`))).toEqual(expected);
    },
  );

  test('the account state recorded in 2023 has no time', () => {
    const { body } = fixture('perp_venue/clearinghouseState-2023-03-27.json') as { body: unknown };
    expect(readClearinghouseState(body)).toEqual({ equity: 1182312496n, notional: 3434815334n, time: null });
  });

  test('an account state whose time is null has no time', () => {
    expect(readClearinghouseState({ ...STATE, time: null })).toMatchObject({
      time: null,
      equity: 1_500_000n,
    });
  });

  test('a reply of another kind is malformed as an account state', () => {
    const { body } = fixture('perp_venue/userRateLimit-2025-08-22.json') as { body: unknown };
    expect(() => readClearinghouseState(body)).toThrow(MalformedError);
  });
});

const STATE = { marginSummary: { accountValue: '1.5', totalNtlPos: '2' }, time: 5 };

test('a negative equity is rounded down, not towards zero', () => {
  const marginSummary = { ...STATE.marginSummary, accountValue: '-0.00000001' };
  expect(readClearinghouseState({ ...STATE, marginSummary }).equity).toBe(-1n);
});

test.each([
  null,
  'text',
  [],
  {},
  { marginSummary: null },
  { marginSummary: { accountValue: 1.5, totalNtlPos: '2' } },
  { marginSummary: { accountValue: '1.5' } },
  { marginSummary: { accountValue: 'NaN', totalNtlPos: '2' } },
  { marginSummary: { accountValue: '1e400', totalNtlPos: '2' } },
  { marginSummary: { accountValue: '1.5', totalNtlPos: '-2' } },
  { ...STATE, time: 'now' },
  { ...STATE, time: 1.5 },
  { ...STATE, time: -1 },
  { ...STATE, time: Number.MAX_SAFE_INTEGER },
])('%j is malformed as an account state', (reply) => {
  expect(() => readClearinghouseState(reply)).toThrow(MalformedError);
});

test('the account value is the equity only in modes without shared collateral; other modes are malformed', () => {
  expect(['unifiedAccount', 'portfolioMargin', 'disabled', 'default'].map(valueIsEquity)).toEqual([
    false,
    false,
    true,
    true,
  ]);
  for (const odd of ['other', '', null, {}, 1]) expect(() => valueIsEquity(odd)).toThrow(MalformedError);
});

test('a remote account is an address only if its first twelve bytes are zero and the other twenty are not', () => {
  const hex = 'ab'.repeat(20);
  expect(perpAddress('00'.repeat(12) + hex)).toBe(`0x${hex}`);
  expect(perpAddress(`${'00'.repeat(11)}01${hex}`)).toBeNull();
  expect(perpAddress(hex)).toBeNull();
  expect(perpAddress('00'.repeat(32))).toBeNull();
  expect(perpAddress(`${'00'.repeat(31)}01`)).toBe(`0x${'00'.repeat(19)}01`);
});
