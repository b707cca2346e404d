import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waitForStream } from '../../../ingest/stream/sweeps/wait-for-stream.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function waitingFor(slot: bigint, brought: () => bigint | null, signal = new AbortController().signal) {
  const state = { isOver: false };
  void waitForStream(slot, brought, signal).then(() => {
    state.isOver = true;
  });
  return state;
}

test('a reading waits until the stream has brought its slot, as long as the stream keeps advancing', async () => {
  let last: bigint | null = null;
  const waiting = waitingFor(12n, () => last);
  for (last of [9n, 10n, 11n]) await vi.advanceTimersByTimeAsync(5_900);
  expect(waiting.isOver).toBe(false);
  last = 13n;
  await vi.advanceTimersByTimeAsync(20);
  expect(waiting.isOver).toBe(true);
});

test('a reading stops waiting after six seconds without progress of the stream, or when the signal aborts', async () => {
  const stuck = waitingFor(12n, () => 11n);
  await vi.advanceTimersByTimeAsync(5_900);
  expect(stuck.isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(stuck.isOver).toBe(true);
  const ended = waitingFor(12n, () => null, AbortSignal.abort());
  await vi.advanceTimersByTimeAsync(0);
  expect(ended.isOver).toBe(true);
});
