import { expect, test } from 'vitest';
import { createLru } from '../../runtime/lru.ts';

test('an LRU keeps at most its capacity of entries and drops the least recently used one', () => {
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
