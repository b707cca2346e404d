/** The blockhashes that block metas told for the last slots. */
export interface Blockhashes {
  /** Whether a different one was told for the slot before; true only once for each blockhash. */
  differsFromSeen(slot: bigint, blockhash: string): boolean;
}

/** @param most slots that are remembered. */
export function createBlockhashes(most: number): Blockhashes {
  const told = new Map<bigint, readonly string[]>();
  return {
    differsFromSeen: (slot, blockhash) => {
      const known = told.get(slot);
      if (known?.includes(blockhash)) return false;
      told.set(slot, [...(known ?? []), blockhash].slice(-MOST_OF_A_SLOT));
      if (told.size > most) told.delete(told.keys().next().value as bigint);
      return known !== undefined;
    },
  };
}

/** Blockhashes remembered for one slot: a chain makes a slot twice at most. */
const MOST_OF_A_SLOT = 4;
