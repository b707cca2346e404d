import { expect, test } from 'vitest';
import { createNewcomers } from '../../../ingest/stream/following/newcomers.ts';

function setUp() {
  const calls: string[] = [];
  let requests = 0;
  const newcomers = createNewcomers({
    rewrite: () => {
      requests += 1;
      calls.push('rewrite');
      return `r${requests}`;
    },
    read: (addresses, notBefore) => calls.push(`read ${addresses.join(' ')} at ${notBefore}`),
  });
  return { newcomers, calls };
}

test('newcomers of a slot share one filter rewrite, and are read when the new filter is first seen at work', () => {
  const { newcomers, calls } = setUp();
  newcomers.add(['a', 'b']);
  newcomers.onSlot();
  newcomers.onFilter('r0', 11n);
  expect(calls).toEqual(['rewrite']);
  newcomers.onFilter('r1', 11n);
  newcomers.onFilter('r1', 12n);
  expect(calls).toEqual(['rewrite', 'read a b at 11']);
  expect(newcomers.pending()).toBe(0);
});

test('one filter rewrite is under way at a time; newcomers that come meanwhile wait for the next', () => {
  const { newcomers, calls } = setUp();
  newcomers.add(['a']);
  newcomers.onSlot();
  newcomers.add(['b']);
  newcomers.onSlot();
  expect(calls).toEqual(['rewrite']);
  newcomers.onFilter('r1', 12n);
  newcomers.onSlot();
  newcomers.onFilter('r2', 13n);
  expect(calls).toEqual(['rewrite', 'read a at 12', 'rewrite', 'read b at 13']);
});

test('a new stream has all newcomers in its first request, including those of an unfinished rewrite', () => {
  const { newcomers, calls } = setUp();
  newcomers.add(['a']);
  newcomers.onSlot();
  newcomers.add(['b']);
  newcomers.onNewStream('first');
  newcomers.onFilter('r1', 11n);
  newcomers.onFilter('first', 12n);
  newcomers.onSlot();
  expect(calls).toEqual(['rewrite', 'read b a at 12']);
});
