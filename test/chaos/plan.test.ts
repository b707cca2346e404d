import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BESIDE_MODES, NO_LIMITS, REPLAYS, readModes } from '../../devnet/geyser/modes.ts';
import { RPC_MANNERS } from '../../devnet/rpc/manners.ts';
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

/** The stream's modes that differ from those of a provider without limits. */
function changedBy(modes: string): string[] {
  const { replay, beside, ...others } = readModes(modes);
  const kind: Record<string, unknown> = { ...NO_LIMITS };
  const changed = Object.entries(others).flatMap(([name, value]) => (value === kind[name] ? [] : [name]));
  return [...changed, `replay=${replay}`, `beside=${beside}`];
}

test(`with providers, ten minutes of any seed have every misbehaviour of stream and node (seed ${SEED})`, () => {
  const { replay, beside, ...others } = NO_LIMITS;
  const manners = [
    ...Object.keys(others),
    ...REPLAYS.map((one) => `replay=${one}`),
    ...BESIDE_MODES.map((one) => `beside=${one}`),
    ...Object.keys(RPC_MANNERS),
    ...['oddities', 'spoilt'],
  ];
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const faults = planFaults(seed, { ...NIGHT, providers: true }).map(({ fault }) => fault);
      const planned = faults.flatMap((fault) => {
        if (fault.kind === 'provider') return changedBy(fault.modes);
        if (fault.kind === 'node') return fault.manners.includes(',') ? [] : [fault.manners];
        return fault.kind === 'stream' ? [fault.brings] : [];
      });
      expect(manners.filter((one) => !planned.includes(one))).toEqual([]);
    }),
    { seed: SEED, numRuns: 100 },
  );
});

test('with providers, one misbehaves at a time; without, none does', () => {
  const changes = planFaults('four', { ...NIGHT, providers: true }).filter(
    ({ fault }) => fault.kind === 'provider',
  );
  changes.slice(1).forEach(({ atMs }, at) => {
    const before = changes[at] as (typeof changes)[0];
    expect(atMs).toBeGreaterThan(before.atMs + before.forMs);
  });
  const without = planFaults('four', NIGHT).map(({ fault }) => fault.kind);
  for (const kind of ['provider', 'node', 'stream'] as const) expect(without).not.toContain(kind);
});

test('two brokers are never away at the same time', () => {
  const away = planFaults('three', NIGHT).filter(({ fault }) => 'broker' in fault);
  expect(away.length).toBeGreaterThan(1);
  away.slice(1).forEach(({ atMs }, at) => {
    const before = away[at] as (typeof away)[0];
    expect(atMs).toBeGreaterThan(before.atMs + before.forMs);
  });
});

test('wordsOf describes a fault with its time, details and duration', () => {
  const words = wordsOf({ fault: { kind: 'delay', place: 1, millis: 40 }, atMs: 1_500, forMs: 2_000 });
  expect(words).toBe('1.5 s: delay place 1 millis 40, for 2.0 s');
});
