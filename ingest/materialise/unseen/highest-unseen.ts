import type { Store } from '../../../clickhouse/client.ts';
import type { UnseenRow } from '../../../clickhouse/hour-tables.ts';

/**
 * Up to where the stream has yet to come: a reading over RPC that found another state than the one known is of a slot that
 * the stream may bring later. What it brings of slots before says how far the one known was so.
 */
export interface HighestUnseen {
  /** @param goesOn whether whoever asks wrote all that came before of its part of the log. */
  slot(goesOn: boolean): Promise<bigint>;
  found(unseen: readonly UnseenRow[]): void;
}

export function createHighestUnseen(store: Store): HighestUnseen {
  /** Found by this process; what others found is asked for once, and where their part of the log is gone on with. */
  let highest = 0n;
  let isAsked = false;
  const take = (slot: bigint) => {
    if (slot > highest) highest = slot;
  };
  return {
    slot: async (goesOn) => {
      if (!isAsked || !goesOn) {
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
