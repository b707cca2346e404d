import { expect, test } from 'vitest';
import { createSharedReadings } from '../../../api/agent/chain/shared-readings.ts';
import { awaited } from '../../support/awaited.ts';

/** Readings that end when the test ends them. */
function heldReadings() {
  const begun: { least: bigint; end: PromiseWithResolvers<string> }[] = [];
  const read = (least: bigint) => {
    const end = Promise.withResolvers<string>();
    begun.push({ least, end });
    return end.promise;
  };
  return { begun, read };
}

test('100 requests for a policy that is being read share one further reading, begun after they arrived', async () => {
  const { begun, read } = heldReadings();
  const shared = createSharedReadings<string>();
  const first = shared('policy', 5n, read);
  const others = Array.from({ length: 100 }, (_, n) => shared('policy', BigInt(n), read));
  expect(begun.map(({ least }) => least)).toEqual([5n]);
  begun[0]?.end.resolve('before');
  expect(await first).toBe('before');
  await awaited(() => expect(begun).toHaveLength(2));
  expect(begun[1]?.least).toBe(99n);
  begun[1]?.end.resolve('after');
  expect(new Set(await Promise.all(others))).toEqual(new Set(['after']));
  expect(begun).toHaveLength(2);
});

test('a failed reading fails only the requests that share it, and other policies do not wait for it', async () => {
  const { begun, read } = heldReadings();
  const shared = createSharedReadings<string>();
  const first = shared('policy', 0n, read);
  const second = shared('policy', 0n, read);
  const other = shared('another', 0n, read);
  expect(begun).toHaveLength(2);
  begun[1]?.end.resolve('of another');
  expect(await other).toBe('of another');
  begun[0]?.end.reject(new Error('no node'));
  await expect(first).rejects.toThrow('no node');
  await awaited(() => expect(begun).toHaveLength(3));
  begun[2]?.end.resolve('read');
  expect(await second).toBe('read');
});
