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

test('a descriptor that another thread holds for a moment is taken once free; no other stays open', () => {
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

test('a descriptor that another thread keeps is an error, and no other stays open', () => {
  const taken = new Set([0, 1, 2]);
  expect(() => openAs(0, { ...numbers(taken), rest: () => undefined })).toThrow('start again');
  expect([...taken].sort()).toEqual([0, 1, 2]);
});
