import { expect, test } from 'vitest';
import { lingerAfter } from '../../start/linger.ts';

test('records wait to be written together only after 10 s without requests, and longer after a minute', () => {
  const waits = [0, 9_999, 10_000, 59_999, 60_000, Number.POSITIVE_INFINITY].map(lingerAfter);
  expect(waits).toEqual([0, 0, 800, 800, 2_000, 2_000]);
});
