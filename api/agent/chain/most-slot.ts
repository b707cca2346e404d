import { setTimeout as delay } from 'node:timers/promises';
import { MOST_AHEAD, type SlotTime } from '../../../runtime/rpc/same-chain.ts';

/** The last slot that the chain may have come to by now; null where nothing of it is known. */
export type MostSlot = () => Promise<bigint | null>;

/** More than any chain makes, local ones included. */
const SLOTS_PER_SECOND = 1_000;
const AGAIN_MS = 60_000;
/** What is not known refuses nobody, and nobody waits for it longer. */
const WAIT_MS = 1_000;

/**
 * What is answered as of a later slot would be newer than whatever comes. It goes on with the time since the place that the
 * index has come to: one that stands still refuses no node of a chain that does not.
 * @param place the last slot that is applied, and its block time.
 */
export function createMostSlot(place: () => Promise<SlotTime | null>): MostSlot {
  let known: { slot: bigint; time: number; knownAt: number } | null = null;
  let asking: Promise<void> | null = null;
  let askedAgainAt = 0;

  const ask = async () => {
    const { slot, time } = (await place().catch(() => null)) ?? { slot: 0n, time: null };
    if (time === null) return;
    const now = performance.now();
    askedAgainAt = now + AGAIN_MS;
    if (known?.slot !== slot) known = { slot, time, knownAt: now };
  };
  return async () => {
    if (performance.now() >= askedAgainAt)
      asking ??= ask().finally(() => {
        asking = null;
      });
    if (known === null && asking !== null)
      await Promise.race([asking, delay(WAIT_MS, undefined, { ref: false })]);
    if (known === null) return null;
    const { slot, time, knownAt } = known;
    // A local chain's times may be ahead of the clock.
    const since = Math.ceil(Math.max(Date.now() / 1000 - time, (performance.now() - knownAt) / 1000));
    return slot + BigInt(since * SLOTS_PER_SECOND) + MOST_AHEAD;
  };
}
