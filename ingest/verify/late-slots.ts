/**
 * Slots of which the stream brought transactions after they were released, and maybe after they were compared with the
 * chain: they are to be compared again.
 */
export interface LateSlots {
  /** @param released the slot released last: the transaction stands in the log in front of the next marker after it. */
  add(slot: bigint, released: bigint): void;
  /** The lowest slot whose late transactions are applied once this marker is; null where there is none. */
  lowest(applied: bigint): bigint | null;
  /** The late slots up to `to` that were applied with this marker have been compared. */
  compared(to: bigint, applied: bigint): void;
}

/** As `released`, it is before any applied marker: the slot may be compared at once. */
export const BEFORE_ALL = 0n;
/** Slots remembered at most: where the comparison has stopped, those that come late now are still ahead of it. */
const MOST_SLOTS = 10_000;

export function createLateSlots(): LateSlots {
  /** By slot, the marker behind which its newest late transaction stands. */
  const late = new Map<bigint, bigint>();
  const isApplied = (released: bigint, applied: bigint) => released < applied;
  return {
    add: (slot, released) => {
      if (late.size < MOST_SLOTS || late.has(slot)) late.set(slot, released);
    },
    lowest: (applied) => {
      let lowest: bigint | null = null;
      for (const [slot, released] of late)
        if (isApplied(released, applied) && (lowest === null || slot < lowest)) lowest = slot;
      return lowest;
    },
    compared: (to, applied) => {
      for (const [slot, released] of late) if (slot <= to && isApplied(released, applied)) late.delete(slot);
    },
  };
}
