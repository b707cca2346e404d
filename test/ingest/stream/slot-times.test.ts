import { expect, test } from 'vitest';
import { createSlotTimes } from '../../../ingest/stream/slot-times.ts';

/** A stream that comes a slot further each time somebody looks, and a node that knows some times. */
function timesOf(node: Map<bigint, number>, streamAt: bigint) {
  let at = streamAt;
  const asked: bigint[] = [];
  const times = createSlotTimes({
    rpc: {
      getBlockTime: async (slot) => {
        asked.push(slot);
        return node.get(slot) ?? null;
      },
    },
    told: (slot) => (slot <= at && slot > 0n ? 1_000 + Number(slot) : null),
    passed: (slot) => {
      at += 1n;
      return at >= slot;
    },
    signal: new AbortController().signal,
    everyMs: 1,
  });
  return { times, asked };
}

test('a slot that the stream told of has its time, and the node is not asked', async () => {
  const { times, asked } = timesOf(new Map(), 50n);
  expect(await times(40n)).toBe(1_040);
  expect(asked).toEqual([]);
});

test('a slot ahead of the stream has the time that the node tells', async () => {
  expect(await timesOf(new Map([[60n, 7]]), 50n).times(60n)).toBe(7);
});

test('where the node tells none the stream is waited for, though not for ever', async () => {
  expect(await timesOf(new Map(), 50n).times(53n)).toBe(1_053);
  expect(await timesOf(new Map(), 50n).times(500n)).toBeNull();
});
