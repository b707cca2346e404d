import { createLru } from '../../runtime/lru.ts';

/** Slots whose time was asked for in vain: each rests, for longer each time. */
export interface SlotTimeBackoff {
  isWaiting(slot: bigint): boolean;
  /** No node that answered knew it. */
  noteUnknown(slot: bigint): void;
}

const FIRST_MS = 30_000;
const LONGEST_MS = 3_600_000;
/** Slots remembered: beyond so many, those that rest the longest are forgotten, and asked for again sooner. */
const MOST = 10_000;

interface Rest {
  ms: number;
  until: number;
}

/** @param now milliseconds that never go back */
export function createSlotTimeBackoff(now: () => number = () => performance.now()): SlotTimeBackoff {
  const known = createLru<Rest>(MOST);
  return {
    isWaiting: (slot) => (known.peek(slot.toString())?.until ?? 0) > now(),
    noteUnknown: (slot) => {
      const before = known.peek(slot.toString());
      const ms = before === undefined ? FIRST_MS : Math.min(before.ms * 2, LONGEST_MS);
      known.set(slot.toString(), { ms, until: now() + ms });
    },
  };
}
