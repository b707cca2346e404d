import { describe, expect, test } from 'vitest';
import { createSuspects } from '../../../api/agent/limits/suspects.ts';
import type { Refusal } from '../../../api/agent/refusal.ts';

const outcomes = async (waits: Promise<void>[]) =>
  (await Promise.allSettled(waits)).map((one) =>
    one.status === 'fulfilled' ? 'looked at' : (one.reason as Refusal).code,
  );

describe('addresses that have used up their failed attempts', () => {
  test('requests of other addresses do not wait', async () => {
    const admit = createSuspects({ isSuspect: () => false, perSecond: 0.001 });
    const all = Array.from({ length: 1_000 }, (_, n) => admit(`192.0.2.${n % 3}`));
    expect(new Set(await outcomes(all))).toEqual(new Set(['looked at']));
  });

  test('of 1,000 simultaneous requests 16 are checked and the others are rate_limited', async () => {
    const admit = createSuspects({ isSuspect: () => true, perSecond: 1_000 });
    const told = await outcomes(Array.from({ length: 1_000 }, () => admit('192.0.2.1')));
    expect(told.filter((one) => one === 'looked at')).toHaveLength(16);
    expect(told.filter((one) => one === 'rate_limited')).toHaveLength(984);
    await expect(admit('192.0.2.1')).resolves.toBeUndefined();
  });

  test('a request that waits too long is rate_limited, and no other address waits behind it', async () => {
    const admit = createSuspects({ isSuspect: () => true, perSecond: 0.001, waitMs: 20 });
    await admit('192.0.2.1');
    await expect(admit('192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      status: 429,
      retryAfter: 1,
    });
    await expect(admit('192.0.2.2')).resolves.toBeUndefined();
  });
});
