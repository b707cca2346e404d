import { setTimeout as delay } from 'node:timers/promises';
import { MOST_AHEAD, type SlotTime } from '../../../runtime/rpc/same-chain.ts';

export interface SlotRange {
  /** A slot that the index had applied up to a minute ago. */
  applied: bigint;
  /** The highest slot that the chain can have reached by now. */
  most: bigint;
}

/** Null where nothing is known of the chain. */
export type SlotRangeNow = () => Promise<SlotRange | null>;

/** More than any chain makes, local ones included. */
const SLOTS_PER_SECOND = 1_000;
const AGAIN_MS = 60_000;
/** The longest that a caller waits for the first known place; without one there is no bound, and nothing is refused. */
const WAIT_MS = 1_000;

/**
 * `most` is the bound above which a node's slot is not believed: such an answer would count as newer than every later
 * one. It grows with the time since the last applied slot: an index that stands still refuses no node of a chain that
 * goes on.
 * @param place the last slot that is applied, and its block time.
 */
export function createSlotRange(place: () => Promise<SlotTime | null>): SlotRangeNow {
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
    return { applied: slot, most: slot + BigInt(since * SLOTS_PER_SECOND) + MOST_AHEAD };
  };
}
