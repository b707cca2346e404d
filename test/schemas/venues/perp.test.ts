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
    '%s: equity and notional are those of the whole account, rounded down to six decimals',
    (name, expected) => {
      expect(readClearinghouseState(fixture(`perp_venue/clearinghouseState-${name}.json`))).toEqual(expected);
    },
  );

  test('docs-isolated: equity and notional include its isolated position, which cross margin leaves out', () => {
    const state = fixture('perp_venue/clearinghouseState-docs-isolated.json') as {
      assetPositions: { position: object }[];
      crossMarginSummary: object;
    };
    expect(state.assetPositions).toMatchObject([{ position: { leverage: { type: 'isolated' } } }]);
    const crossOnly = readClearinghouseState({ ...state, marginSummary: state.crossMarginSummary });
    const whole = readClearinghouseState(state);
    // The margin and the value of the position.
    expect(whole.equity - crossOnly.equity).toBe(4_967_826n);
    expect(whole.notional - crossOnly.notional).toBe(100_027_650n);
  });

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

test('equity and notional are rounded down to six decimals, a negative equity away from zero', () => {
  const read = (accountValue: string, totalNtlPos: string) =>
    readClearinghouseState({ ...STATE, marginSummary: { accountValue, totalNtlPos } });
  expect(read('1.2345679', '2.9999999')).toMatchObject({ equity: 1_234_567n, notional: 2_999_999n });
  expect(read('-0.00000001', '0.0000009')).toMatchObject({ equity: -1n, notional: 0n });
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
