import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withHead, withTail } from '../../api/explorer/browser/coin/merge.ts';

const SEED = Number(process.env.SEED ?? 20_261_121);

const PAGE = 10;
const OVERLAP = 4;

test('pages of a list that grows between requests merge without duplicates or missing items', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 }),
      (start, steps) => {
        const all = Array.from({ length: start }, (_, at) => start - at);
        let known = all.slice(0, PAGE);
        for (const step of steps) {
          // So many events come, then the newest page or an older one is read.
          for (let more = 0; more < step; more += 1) all.unshift(all.length + 1);
          known = withHead(known, all.slice(0, PAGE));
          const older = all.slice(Math.max(0, known.length - OVERLAP)).slice(0, PAGE);
          known = withTail(known, older) ?? known;
          expect(known).toEqual(all.slice(0, known.length));
        }
      },
    ),
    { seed: SEED },
  );
});

test('a page without overlap replaces the known items at the head, and is refused at the tail', () => {
  expect(withHead([3, 2, 1], [9, 8, 7])).toEqual([9, 8, 7]);
  expect(withTail([3, 2, 1], [9, 8])).toBeNull();
  expect(withHead([], [2, 1])).toEqual([2, 1]);
});

test('events that look the same are each kept', () => {
  expect(withHead(['a', 'a', 'b'], ['a', 'a', 'a', 'b'])).toHaveLength(4);
});
