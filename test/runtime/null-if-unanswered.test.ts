import { expect, test } from 'vitest';
import { nullIfUnanswered } from '../../runtime/process/null-if-unanswered.ts';

test('a call that fails or hangs yields null, and a hanging call is joined, not repeated, until it ends', async () => {
  let asked = 0;
  const hung = Promise.withResolvers<number>();
  const ask = nullIfUnanswered(async () => {
    asked += 1;
    if (asked === 2) throw new Error('away');
    return asked === 1 ? hung.promise : 7;
  });
  expect(await ask()).toBeNull();
  expect(await ask()).toBeNull();
  expect(asked).toBe(1);
  hung.resolve(5);
  expect(await ask()).toBe(5);
  expect(await ask()).toBeNull();
  expect(await ask()).toBe(7);
  expect(asked).toBe(3);
});
