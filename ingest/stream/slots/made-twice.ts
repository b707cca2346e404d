/**
 * Slots that the chain made twice, and of which the stream told the version that died, too. What that one wrote to an
 * account stands here until the next write, which may be never: all accounts are read again behind them.
 */
export interface MadeTwice {
  found(slot: bigint): void;
  /** To be told of each slot that is released. */
  released(slot: bigint): void;
}

/** Behind such a slot, no node that has come as far serves the version that died. */
const BEHIND = 32n;
/** A minute of the chain: slots that are closer together than this are one sweep. */
const APART = 150n;

/** @param readAll has all accounts read at that slot or later. */
export function createMadeTwice(readAll: (notBefore: bigint) => void): MadeTwice {
  /** The newest that no sweep was asked for behind; null: none. */
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
