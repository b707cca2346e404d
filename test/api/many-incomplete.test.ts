import { expect, test } from 'vitest';
import {
  dayIncompleteReason,
  incompleteFrom,
  incompleteLately,
  incompleteReason,
} from '../../api/figures/missing.ts';
import type { IndexState } from '../../api/latest/index-state.ts';

const MANY = 2_000;
const FIGURES = 50;

/** A list that counts how often one of its entries is looked at. */
function watched<T>(list: T[]): { list: T[]; looks(): number } {
  let looks = 0;
  const get = (of: T[], name: string | symbol) => {
    if (typeof name === 'string' && /^\d+$/.test(name)) looks += 1;
    return Reflect.get(of, name);
  };
  return { list: new Proxy(list, { get }), looks: () => looks };
}

test('what incomplete transactions lack is scanned once for all figures together', () => {
  const policies = watched(
    Array.from({ length: MANY }, (_, at): [string, string, string, string] => [
      `account ${at >> 1}`,
      'Routed',
      `${at}`,
      `${at}`,
    ]),
  );
  const days = watched(
    Array.from({ length: MANY }, (_, at): [string, string] => [`day ${at}`, 'FeesClaimed.baseAmount']),
  );
  const incomplete = { policies: policies.list, days: days.list, undated: [], undatedEvents: [] };
  const state = { incomplete } as unknown as IndexState;
  const view = { now: 0, expireAt: () => {}, state: () => state };
  for (let at = 0; at < FIGURES; at += 1) {
    for (const [address, isLacking] of [
      [`account ${at}`, true],
      [`account ${MANY + at}`, false],
    ] as const) {
      expect(incompleteReason(state, address, 'Routed.toLp') !== null).toBe(isLacking);
      expect(incompleteReason(state, address, 'FeesClaimed.quoteAmount')).toBeNull();
      expect(incompleteLately(view, address, 'Routed.toLp') !== null).toBe(isLacking);
      expect(incompleteFrom(state, address, 'Routed.toLp')).toHaveLength(isLacking ? 1 : 0);
    }
    expect(dayIncompleteReason(state, `day ${at}`, 'FeesClaimed.baseAmount')).toContain('of this day');
    expect(dayIncompleteReason(state, `day ${at}`, 'Routed.toLp')).toBeNull();
    expect(dayIncompleteReason(state, `day ${MANY + at}`, 'FeesClaimed.baseAmount')).toBeNull();
  }
  expect([policies.looks(), days.looks()]).toEqual([MANY, MANY]);
});
