import { expect, test } from 'vitest';
import { createRecent } from '../../runtime/recent.ts';

test('what was used last is remembered, so many at most', () => {
  const recent = createRecent<string>(3);
  for (const name of ['a', 'b', 'c']) recent.set(name, `of ${name}`);
  recent.get('a');
  recent.set('c', 'of c again');
  recent.set('d', 'of d');
  expect([...recent.entries()].sort()).toEqual([
    ['a', 'of a'],
    ['c', 'of c again'],
    ['d', 'of d'],
  ]);
  expect(recent.get('b')).toBeUndefined();
});
