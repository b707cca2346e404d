import { createLru } from '../lru.ts';

/** Slots that no node knew a time of when all were asked. */
export interface SlotsWithoutTime {
  has(slot: bigint): boolean;
  add(slot: bigint): void;
}

const MOST = 10_000;
/** How long a slot stays among them: a node may get the block that it lacks. */
const HOLDS_MS = 5 * 60_000;

/** @param now milliseconds of a monotonic clock. */
export function createSlotsWithoutTime(now: () => number = () => performance.now()): SlotsWithoutTime {
  const slots = createLru<{ until: number }>(MOST);
  return {
    has: (slot) => (slots.get(String(slot))?.until ?? now()) > now(),
    add: (slot) => {
      slots.set(String(slot), { until: now() + HOLDS_MS });
    },
  };
}
