import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type SettleOptions,
  type SweepPlace,
  settleProfits,
} from '../../../ingest/history/settle-profits.ts';
import { profitOf } from '../../../ingest/history/swept-profit.ts';
import { createLogger } from '../../../runtime/process/log.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);
const bps = fc.integer({ min: 0, max: 10_000 });
interface Lot {
  earned: bigint;
  toLpBps: number;
  ofRest: number;
  held: number;
}
const sweep: fc.Arbitrary<Lot> = fc.record({
  earned: fc.bigInt({ min: 1n, max: 10n ** 12n }),
  toLpBps: bps,
  ofRest: bps,
  /** Bankroll in per cent of what would be moved; below 100 the legs are reduced. */
  held: fc.integer({ min: 0, max: 200 }),
});

/** A policy through some sweeps, by the program's rules. */
function lived(start: { hwm: bigint; profitSwept: bigint }, sweeps: readonly Lot[]) {
  let { hwm, profitSwept } = start;
  const done = sweeps.map(({ earned, toLpBps, ofRest, held }) => {
    const equity = hwm + earned;
    const profit = equity - hwm;
    const share = (of: bigint, part: number) => (of * BigInt(part)) / 10_000n;
    let toLp = share(profit, toLpBps);
    let toHolders = share(profit, Math.floor(((10_000 - toLpBps) * ofRest) / 10_000));
    const asked = toLp + toHolders;
    const bankroll = (asked * BigInt(held)) / 100n;
    if (asked > bankroll) {
      toLp = (toLp * bankroll) / asked;
      toHolders = bankroll - toLp;
    }
    hwm = equity - toLp - toHolders;
    profitSwept += toLp + toHolders;
    return { profit, toLp, toHolders };
  });
  return { hwm, profitSwept, done };
}

const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
const begin = fc.record({ hwm: amount, profitSwept: amount });

test(`the profit of one sweep follows from the states around any run of sweeps (seed ${SEED})`, () => {
  fc.assert(
    fc.property(begin, fc.array(sweep, { minLength: 1, maxLength: 5 }), fc.nat(), (start, sweeps, which) => {
      const { hwm, profitSwept, done } = lived(start, sweeps);
      const at = which % done.length;
      const { profit, ...legs } = done[at] as (typeof done)[number];
      const others = done.filter((_, place) => place !== at);
      const before = { slot: 1n, ...start };
      const scene = { before, after: { slot: 9n, hwm, profitSwept }, sweep: legs, others };
      expect(profitOf(scene)).toBe(profit);
      // A missing sweep that moved something is noticed.
      const [lost] = others;
      if (lost !== undefined && lost.toLp + lost.toHolders > 0n)
        expect(profitOf({ ...scene, others: others.slice(1) })).toBeNull();
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test('sweeps that cannot be settled do not hold up later ones: rounds reach all of them, then start over', async () => {
  const all = Array.from({ length: 120 }, (_, at) => ({
    ...{ slot: BigInt(at), signature: `signature ${at}`, policies: ['policy'] },
  }));
  const looked: bigint[] = [];
  const options: SettleOptions = {
    rpc: { getTransaction: () => Promise.reject(new Error('nothing is to be read')) },
    log: { append: () => Promise.reject(new Error('nothing is to be told')) },
    store: {
      unsettled: async (_, behind, most) =>
        all.filter(({ slot }) => slot > behind.slot || behind.signature === '').slice(0, most),
      marksAround: async (_, slot) => {
        looked.push(slot);
        return { before: [], after: [] };
      },
      sweepsBetween: async () => [],
      missingBetween: async () => [],
    },
    ...{ startSlot: 0n, verifiedSlot: async () => 1_000n, openGaps: async () => [] },
    ...{ logger: createLogger('silent', 'test'), signal: new AbortController().signal },
  };
  let place: SweepPlace | undefined;
  for (let go = 0; go < 3; go += 1) place = await settleProfits(options, new Set(), place);
  expect(looked).toEqual(all.map(({ slot }) => slot));
  await settleProfits(options, new Set(), place);
  expect(looked[all.length]).toBe(0n);
});
