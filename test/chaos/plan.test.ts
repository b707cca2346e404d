import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planFaults, wordsOf } from './plan.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);
const NIGHT = { durationMs: 600_000, scale: 1 };

test('a seed makes the same plan again, and another seed another', () => {
  expect(planFaults('one', NIGHT)).toEqual(planFaults('one', NIGHT));
  expect(planFaults('one', NIGHT)).not.toEqual(planFaults('two', NIGHT));
});

test(`every kind of fault is in ten minutes of any seed, and each is healed before they end (seed ${SEED})`, () => {
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const plan = planFaults(seed, NIGHT);
      const words = plan.map(({ fault }) => fault.kind);
      expect(new Set(words)).toEqual(
        new Set([
          ...['kill', 'freeze', 'rebalance', 'kill-broker', 'freeze-broker', 'kill-clickhouse'],
          ...['refuse-clickhouse', 'kill-postgres', 'cut', 'delay'],
        ]),
      );
      for (const { atMs, forMs } of plan) expect(atMs + forMs).toBeLessThanOrEqual(NIGHT.durationMs);
    }),
    { seed: SEED, numRuns: 30 },
  );
});

test('with providers every one of their manners is in ten minutes of any seed, and one at a time', () => {
  const plan = planFaults('four', { ...NIGHT, providers: true });
  const changes = plan.filter(({ fault }) => fault.kind === 'provider');
  expect(new Set(changes.map(({ fault }) => wordsOf({ fault, atMs: 0, forMs: 0 }))).size).toBeGreaterThan(14);
  changes.slice(1).forEach(({ atMs }, at) => {
    const before = changes[at] as (typeof changes)[0];
    expect(atMs).toBeGreaterThan(before.atMs + before.forMs);
  });
  const kinds = new Set(plan.map(({ fault }) => fault.kind));
  for (const kind of ['node', 'stream'] as const) {
    expect(kinds).toContain(kind);
    expect(planFaults('four', NIGHT).some(({ fault }) => fault.kind === kind)).toBe(false);
  }
  expect(planFaults('four', NIGHT).some(({ fault }) => fault.kind === 'provider')).toBe(false);
});

test('never are two brokers away at once', () => {
  const away = planFaults('three', NIGHT).filter(({ fault }) => 'broker' in fault);
  expect(away.length).toBeGreaterThan(1);
  away.slice(1).forEach(({ atMs }, at) => {
    const before = away[at] as (typeof away)[0];
    expect(atMs).toBeGreaterThan(before.atMs + before.forMs);
  });
});

test('a fault is told in words', () => {
  const words = wordsOf({ fault: { kind: 'delay', place: 1, millis: 40 }, atMs: 1_500, forMs: 2_000 });
  expect(words).toBe('1.5 s: delay place 1 millis 40, for 2.0 s');
});
