import type { Store } from '../../../clickhouse/client.ts';
import type { UnseenRow } from '../../../clickhouse/hour-tables.ts';

/**
 * The highest slot in which a reading over RPC found another state than the known one. The stream may bring that slot
 * later, and what it brings of slots before tells how long the known state held.
 */
export interface HighestUnseen {
  /** @param isContinuation whether the batch follows on what this process wrote of its partition. */
  slot(isContinuation: boolean): Promise<bigint>;
  found(unseen: readonly UnseenRow[]): void;
}

export function createHighestUnseen(store: Store): HighestUnseen {
  /** What other processes found is asked for once, and again where a partition is taken over. */
  let highest = 0n;
  let isAsked = false;
  const take = (slot: bigint) => {
    if (slot > highest) highest = slot;
  };
  return {
    slot: async (isContinuation) => {
      if (!isAsked || !isContinuation) {
        const [row] = await store.query<{ slot: string }>('SELECT max(to_slot) AS slot FROM unseen_changes');
        take(BigInt(row?.slot ?? 0));
        isAsked = true;
      }
      return highest;
    },
    found: (unseen) => {
      for (const { to_slot } of unseen) take(BigInt(to_slot));
    },
  };
}
