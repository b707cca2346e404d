/**
 * Slots that the chain made twice, where the stream brought records of the dead version, too. What that version wrote
 * to an account stays stored until the next write, which may never come: all accounts are read again behind such slots.
 */
export interface MadeTwice {
  found(slot: bigint): void;
  /** To be called for each released slot. */
  released(slot: bigint): void;
}

/** From so many slots behind such a slot on, no node that has come there serves the dead version. */
const BEHIND = 32n;
/** A minute of the chain: slots closer together than this share one sweep. */
const APART = 150n;

/** @param readAll has all accounts read at that slot or later. */
export function createMadeTwice(readAll: (notBefore: bigint) => void): MadeTwice {
  /** The newest such slot that no sweep was asked for behind; null: none. */
  let newest: bigint | null = null;
  let due = 0n;
  let last: bigint | null = null;
  return {
    found: (slot) => {
      if (newest === null || slot + BEHIND < due) due = slot + BEHIND;
      if (newest === null || slot > newest) newest = slot;
    },
    released: (slot) => {
      if (newest === null || slot < due || (last !== null && slot < last + APART)) return;
      readAll(slot);
      last = slot;
      due = newest + BEHIND;
      if (due <= slot) newest = null;
    },
  };
}
