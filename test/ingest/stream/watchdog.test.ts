import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watch } from '../../../ingest/stream/watchdog.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR_MS = 3_600_000;

/** A stream that has just released a slot; notes what the watchdog says. */
function watching() {
  const said: string[] = [];
  const dog = watch({
    ...{ silenceMs: 1_000, noReleaseMs: 5_000 },
    onStall: (reason) => said.push(reason),
    paused: () => false,
  });
  dog.heard(10n, 9n);
  return { dog, said };
}

test('a wall clock that is set back does not hide silence', () => {
  const { said } = watching();
  vi.setSystemTime(Date.now() - HOUR_MS);
  vi.advanceTimersByTime(1_500);
  expect(said).toEqual(['no new slot for 1000 ms']);
});

test('a wall clock that is set back does not hide that no slot was complete', () => {
  const { dog, said } = watching();
  vi.setSystemTime(Date.now() - HOUR_MS);
  for (let slot = 11n; slot < 30n; slot += 1n) {
    vi.advanceTimersByTime(500);
    dog.heard(slot, 9n);
  }
  expect(said).toEqual(['no slot was complete for 5000 ms']);
});

test('a wall clock that is set forward does not count as silence', () => {
  const { dog, said } = watching();
  vi.setSystemTime(Date.now() + HOUR_MS);
  vi.advanceTimersByTime(900);
  dog.stop();
  expect(said).toEqual([]);
});
