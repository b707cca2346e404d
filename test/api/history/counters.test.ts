import { expect, test } from 'vitest';
import { countersAtEnds, FEES_CLAIMED, PROFIT_SWEPT } from '../../../api/history/counters.ts';
import { createStates } from '../../../api/history/states.ts';
import type { IndexState } from '../../../api/latest/index-state.ts';
import type { ClosingState } from '../../../clickhouse/queries/history/closing-states.ts';
import { isoTime } from '../../../schemas/units.ts';
import { looked } from './support/looked.ts';

/** An index from which nothing of the chain is missing. */
const WHOLE = {
  historyReason: null,
  isSettled: true,
  openGaps: [],
  incomplete: { undatedEvents: [] },
} as unknown as IndexState;

const HOURS = 1_000;
const hours = Array.from({ length: HOURS }, (_, hour) => hour);

test('a counter at 1,000 ends reads each row only a few times, and later pieces of the answer read none', () => {
  const sums = hours.flatMap((hour) =>
    ['FeesClaimed', 'ProfitSwept'].map((kind) => ({
      ...{ hour, kind, last_time: String(hour * 3_600 + 7) },
      ...{ amount_a: '100', amount_b: '2', amount_c: '3' },
    })),
  );
  const { rows, counted } = looked(sums);
  const piece = () =>
    countersAtEnds({
      ...{ sums: rows, state: WHOLE },
      incomplete: () => [],
      concerns: () => true,
    });
  const fromEvents = piece();
  const figures = hours.map((hour) => fromEvents(PROFIT_SWEPT, hour, null));
  expect(figures[0]).toMatchObject({ value: '0', asOf: '1970-01-01T00:00:00.000Z' });
  expect(figures[1]).toMatchObject({ value: '5', asOf: '1970-01-01T00:00:07.000Z' });
  expect(figures[999]).toMatchObject({ value: String(999 * 5), asOf: '1970-02-11T14:00:07.000Z' });
  expect(counted.times).toBeLessThan(rows.length * 20);
  const before = counted.times;
  expect(piece()(PROFIT_SWEPT, 999, null)).toEqual(figures[999]);
  expect(counted.times).toBe(before);
});

test('an undated event counts after its latest hour; while its time and the sums disagree the counter is absent', () => {
  const [early, at, late] = [10, 20, 30];
  const event = (change: object) => ({
    ...{ kind: 'ProfitSwept', amount_b: '2', amount_c: '3', block_time: null, summed: 0 },
    ...{ earliest: String(at * 3_600), latest: String(at * 3_600 + 9) },
    ...change,
  });
  const figuresOf = (change: object) => {
    const state = { ...WHOLE, incomplete: { undatedEvents: [event(change)] } } as unknown as IndexState;
    const nothing = { incomplete: () => [], concerns: () => true };
    const fromEvents = countersAtEnds({ sums: [], state, ...nothing });
    return [early, at + 1, late].map((hour) => fromEvents(PROFIT_SWEPT, hour, null));
  };
  const valuesOf = (change: object) => figuresOf(change).map(({ value }) => value);
  expect(valuesOf({})).toEqual(['0', '5', '5']);
  const time = String(at * 3_600 + 4);
  expect(valuesOf({ block_time: time, earliest: time, latest: time })).toEqual(['0', null, null]);
  expect(valuesOf({ summed: 1 })).toEqual(['0', null, null]);
  // A counter without events has the end's time; one with an event without a time has none.
  expect(figuresOf({}).map(({ asOf }) => asOf)).toEqual([isoTime(early * 3_600), null, null]);
});

test('an event without a time makes counters of its kind and policy absent from its earliest possible hour on', () => {
  const lacking = {
    kind: 'ProfitSwept',
    mint: 'own',
    amount_b: '2',
    amount_c: '3',
    block_time: null,
    summed: 0,
  };
  const toldAt = (change: object, hour: number) => {
    const event = { ...lacking, earliest: null, latest: null, ...change };
    const state = { ...WHOLE, incomplete: { undatedEvents: [event] } } as unknown as IndexState;
    const concerns = ({ mint }: { mint: string }) => mint === 'own';
    const fromEvents = countersAtEnds({ sums: [], state, incomplete: () => [], concerns });
    return fromEvents(PROFIT_SWEPT, hour, null).value;
  };
  expect(toldAt({}, 20)).toBeNull();
  expect(toldAt({ kind: 'Routed' }, 20)).toBe('0');
  expect(toldAt({ mint: 'other' }, 20)).toBe('0');
  expect(toldAt({ mint: 'other', earliest: '1', latest: '2' }, 20)).toBe('0');
  expect(toldAt({ earliest: String(20 * 3_600) }, 20)).toBe('0');
  expect(toldAt({ earliest: String(20 * 3_600 - 1) }, 20)).toBeNull();
});

test('a counter is absent after the hour in which a transaction lacks one of its amounts, with the reason', () => {
  const cut = { hour: 19, reason: 'its logs were cut' };
  const lacking = (amount: string) => (amount === 'ProfitSwept.toHolders' ? [cut] : []);
  const events = { sums: [], state: WHOLE, incomplete: lacking, concerns: () => true };
  const fromEvents = countersAtEnds(events);
  expect(fromEvents(PROFIT_SWEPT, 20, 1n)).toMatchObject({ value: null, reason: 'its logs were cut' });
  expect(fromEvents(FEES_CLAIMED, 20, 1n)).toMatchObject({ value: '0' });
  expect(fromEvents(PROFIT_SWEPT, 19, 1n)).toMatchObject({ value: '0' });
});

test('a counter is present up to the first open gap, and absent where the first slot of the hour is not known', () => {
  const openGaps = [{ from_slot: '200' }, { from_slot: '100' }];
  const state = { ...WHOLE, historyReason: 'history is being read', openGaps } as unknown as IndexState;
  const nothing = { incomplete: () => [], concerns: () => true };
  const fromEvents = countersAtEnds({ sums: [], state, ...nothing });
  const valueAt = (begin: bigint | null) => fromEvents(PROFIT_SWEPT, 20, begin).value;
  expect([99n, 100n, 101n, 300n, null].map(valueAt)).toEqual(['0', '0', null, null, null]);
});

test('the state of an account at the end of an hour is found without reading all of its states', () => {
  const { rows, counted } = looked(hours.map((hour) => ({ address: 'a', hour }) as unknown as ClosingState));
  const states = createStates(
    { states: new Map([['a', rows]]), first: [] },
    { begins: () => 1n, lost: () => null },
  );
  expect(hours.map((hour) => states.at('a', hour + 1).row?.hour)).toEqual(hours);
  expect(counted.times).toBeLessThan(HOURS * 60);
});
