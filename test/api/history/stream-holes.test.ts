import { expect, test } from 'vitest';
import { createStreamHoles, type Hole } from '../../../api/history/stream-holes.ts';
import { stepParams } from '../../../clickhouse/queries/history/spans.ts';
import { createRandom } from '../../../devnet/program/state/random.ts';
import { looked } from './support/looked.ts';

const SEED = process.env.SEED ?? 'holes-1';
const order = (a: Hole, b: Hole) => Number(a.after - b.after) || Number(a.to - b.to);

test('the search finds the same hole as a scan of all random, overlapping holes', () => {
  const random = createRandom(SEED);
  const found = { ending: 0, within: 0 };
  for (let round = 0; round < 300; round += 1) {
    const hole = (most: number): Hole => {
      const after = random.int(0, 60);
      return { after: BigInt(after), to: BigInt(after + random.int(1, most)) };
    };
    const holes = Array.from({ length: random.int(0, 12) }, () => hole(random.pick([2, 30])));
    const all = holes.toSorted(order);
    const { endingBehind, lastWithin } = createStreamHoles(holes);
    for (let slot = 0n; slot < 95n; slot += 1n) {
      const ending = all.find(({ to }) => to > slot);
      expect(endingBehind(slot), `seed ${SEED}, round ${round}, slot ${slot}`).toEqual(ending);
      if (ending !== undefined) found.ending += 1;
    }
    for (let times = 0; times < 20; times += 1) {
      const whole = hole(40);
      const within = all.findLast(({ after, to }) => after >= whole.after && to <= whole.to);
      expect(lastWithin(whole)?.after, `seed ${SEED}, round ${round}, ${whole.after}`).toBe(within?.after);
      if (within !== undefined) found.within += 1;
    }
  }
  expect(Math.min(found.ending, found.within), `seed ${SEED}`).toBeGreaterThan(1_000);
});

const HOLES = 5_000;
const ENDS = 1_000;

test('the holes of 1,000 ends are found among 5,000 without scanning all of them for each end', () => {
  const { rows, counted } = looked(
    Array.from({ length: HOLES }, (_, at): Hole => ({ after: BigInt(at * 10), to: BigInt(at * 10 + 5) })),
  );
  const { endingBehind, lastWithin } = createStreamHoles(rows);
  for (let end = 1n; end <= ENDS; end += 1n) {
    const at = end * 50n;
    expect(endingBehind(at - 4n)?.to).toBe(at < HOLES * 10 ? at + 5n : undefined);
    expect(lastWithin({ after: at - 31n, to: at - 4n })?.after).toBe(at - 10n);
  }
  expect(counted.times).toBeLessThan(HOLES * 10 + ENDS * 100);
});

test('the query parameters for sums at 1,000 steps take one pass over 5,000 holes', () => {
  const { rows, counted } = looked(
    Array.from({ length: HOLES }, (_, at) => ({
      ...{ after_slot: String(at * 10), to_slot: String(at * 10 + 5) },
    })),
  );
  const hours = Array.from({ length: ENDS + 1 }, (_, hour) => ({ hour, slot: String(hour * 50) }));
  const ends = hours.slice(1).map(({ hour }) => hour);
  const params = stepParams(ends, { hours, holes: rows });
  expect(params?.least_steps).toEqual(ends);
  expect(params?.leasts).toEqual(ends.map((end) => BigInt(end * 50 - 5)));
  expect(counted.times).toBeLessThan(HOLES * 5);
});
