import { expect, test } from 'vitest';
import { blocksOf, STEPS_A_BLOCK } from '../../../api/history/blocks.ts';

const ends = (first: number, count: number, each: number) =>
  Array.from({ length: count }, (_, at) => first + at * each);

test.each([1, 24])('ranges that overlap are covered by the same blocks (steps of %i h)', (each) => {
  const long = STEPS_A_BLOCK * each;
  const start = 1000 * long;
  const both = [
    { first: start, last: start + long - each, passed: STEPS_A_BLOCK },
    { first: start + long, last: start + 2 * long - each, passed: 3 },
  ];
  const passed = start + long + 2 * each + (each - 1);
  for (const [from, count] of [
    [start, 2 * STEPS_A_BLOCK],
    [start + 5 * each, STEPS_A_BLOCK],
    [start + long - each, 2],
  ] as const)
    expect(blocksOf(ends(from, count, each), each, passed)).toEqual(both);
  expect(blocksOf(ends(start + 3 * long, 1, each), each, passed)).toMatchObject([{ passed: 0 }]);
  expect(blocksOf([], each, passed)).toEqual([]);
});
