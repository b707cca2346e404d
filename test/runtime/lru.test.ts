import { expect, test } from 'vitest';
import { createLru } from '../../runtime/lru.ts';

test('what was used last is remembered, so many at most', () => {
  const recent = createLru<string>(3);
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
