/** The blockhashes that metas told of the last slots. */
export interface Blockhashes {
  /** Whether another one was told of the slot before; each is news once. */
  isOther(slot: bigint, blockhash: string): boolean;
}

/** @param most slots that are remembered. */
export function createBlockhashes(most: number): Blockhashes {
  const told = new Map<bigint, readonly string[]>();
  return {
    isOther: (slot, blockhash) => {
      const known = told.get(slot);
      if (known?.includes(blockhash)) return false;
      told.set(slot, [...(known ?? []), blockhash].slice(-MOST_OF_A_SLOT));
      if (told.size > most) told.delete(told.keys().next().value as bigint);
      return known !== undefined;
    },
  };
}

/** A slot is made twice; what has more is no chain. */
const MOST_OF_A_SLOT = 4;
