import { expect, test } from 'vitest';
import { openAs } from '../../clickhouse/embedded/standard-input.ts';

/** File descriptors as the system gives them: the lowest free number. */
function numbers(taken: Set<number>) {
  return {
    open: () => {
      let number = 0;
      while (taken.has(number)) number += 1;
      taken.add(number);
      return number;
    },
    close: (number: number) => void taken.delete(number),
  };
}

test('a number that another thread has for a moment is had once that is over, and nothing else is left open', () => {
  const taken = new Set([0, 1, 2]);
  let rests = 0;
  openAs(0, {
    ...numbers(taken),
    rest: () => {
      rests += 1;
      if (rests === 3) taken.delete(0);
    },
  });
  expect([...taken].sort()).toEqual([0, 1, 2]);
  expect(rests).toBe(3);
});

test('one that stays another’s is told, and nothing is left open', () => {
  const taken = new Set([0, 1, 2]);
  expect(() => openAs(0, { ...numbers(taken), rest: () => undefined })).toThrow('start again');
  expect([...taken].sort()).toEqual([0, 1, 2]);
});
