import { expect, test } from 'vitest';
import { createLogThrottle, throttleKey } from '../../runtime/process/log-throttle.ts';

test('a repeated line is logged at once, then at growing intervals with the number of lines left out', () => {
  let now = 0;
  const repeated = createLogThrottle(() => now);
  const told: [number, number][] = [];
  for (; now < 900_000; now += 1_000) {
    const alike = repeated('away');
    if (alike !== null) told.push([now / 1_000, alike]);
  }
  expect(told).toEqual([
    [0, 0],
    [10, 9],
    [40, 29],
    [130, 89],
    [400, 269],
    [700, 299],
  ]);
  expect(repeated('another')).toBe(0);
  now += 301_000;
  expect(repeated('away')).toBe(199);
  now += 9_000;
  expect(repeated('away')).toBeNull();
});

test('lines that differ in attempt, numbers or request path are repeats; other errors and slots are not', () => {
  const said = (fields: object) => throttleKey(fields, 'not read');
  expect(said({ attempt: 1, error: 'no answer within 500 ms' })).toBe(
    said({ attempt: 2, error: 'no answer within 90 ms' }),
  );
  expect(said({ err: new Error('refused'), path: '/a' })).toBe(
    said({ err: new Error('refused'), path: '/b' }),
  );
  expect(said({ err: new Error('refused') })).not.toBe(said({ err: new Error('timed out') }));
  expect(said({ slot: '5', error: 'x' })).not.toBe(said({ slot: '6', error: 'x' }));
  expect(said({ of: { slot: 5n } })).not.toBe(said({ of: { slot: 6n } }));
});
