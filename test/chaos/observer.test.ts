import { expect, test } from 'vitest';
import { createMemory } from './look/observer.ts';

const figure = (value: string | null) => ({ value, source: 'indexer:events', asOf: null });
const loop = (value: string | null) => ({
  step2_routed: { toLp: figure(value) },
  step4_deployed: figure('9'),
});
const answer = (body: Record<string, unknown>, status = 200) => ({ status, body });

test('a sum that shrinks is reported with both values', () => {
  const memory = createMemory();
  memory.take('/coins/a/loop', answer(loop('5')));
  memory.take('/coins/a/loop', answer(loop('7')));
  expect([...memory.problems]).toEqual([]);
  memory.take('/coins/a/loop', answer(loop('6')));
  expect([...memory.problems]).toEqual(['/coins/a/loop step2_routed.toLp went from 7 back to 6']);
});

test('a figure may be absent for a while, but is reported if it is smaller when it is back', () => {
  const memory = createMemory();
  for (const value of ['7', null, '7']) memory.take('/coins/a/loop', answer(loop(value)));
  expect([...memory.problems]).toEqual([]);
  memory.take('/coins/a/loop', answer(loop('1')));
  expect(memory.problems.size).toBe(1);
});

test('sums of days, counters, marks and the last slot are watched, balances are not', () => {
  const memory = createMemory();
  memory.take('/status', answer({ indexer: { lastProcessedSlot: '12' } }));
  memory.take(
    '/analytics',
    answer({ revenueByDayTimeSeries: [{ day: '2026-11-21', profitSwept: figure('3'), byQuote: [] }] }),
  );
  memory.take('/coins/a', answer({ counters: { creditSpent: figure('4') }, hwm: figure('5') }));
  expect(memory.figures()).toBe(4);
  memory.take('/coins/a/loop', answer({ step4_deployed: { local: figure('9') } }));
  expect(memory.figures()).toBe(4);
});

test('an error of an unreachable database is excused; any other error and a policy that vanishes are reported', () => {
  const memory = createMemory();
  memory.take('/status', answer({ error: 'internal error', detail: 'Error: connect ECONNREFUSED' }, 500));
  memory.take('/coins/a', answer({ error: 'not found' }, 404));
  expect([...memory.problems]).toEqual([]);
  memory.take('/status', answer({ error: 'internal error', detail: 'TypeError: x is undefined' }, 500));
  memory.take('/coins/a', answer({ hwm: figure('5') }));
  memory.take('/coins/a', answer({ error: 'not found' }, 404));
  expect(memory.problems.size).toBe(2);
});
