import { expect, test } from 'vitest';
import { behindStream } from '../../../ingest/stream/following/behind-stream.ts';

const { signal } = new AbortController();

test('a reading waits until the stream has released its slot', async () => {
  let last: bigint | null = null;
  let isOver = false;
  const waiting = behindStream(12n, () => last, signal).then(() => {
    isOver = true;
  });
  for (last of [10n, 11n]) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isOver).toBe(false);
  last = 13n;
  await waiting;
});

test('it goes on where the stream comes no further, and when all ends', async () => {
  await behindStream(12n, () => 11n, signal);
  await behindStream(12n, () => null, AbortSignal.abort());
});
