import type { Store } from '../../clickhouse/client.ts';
import type { FirstStreamedRow, UnseenRow } from '../../clickhouse/tables.ts';

/**
 * Up to where the stream has yet to come: a reading over RPC that found another state than the one known is of a slot that
 * the stream may bring later. What it brings of slots before says how far the one known was so.
 */
export interface HighestUnseen {
  /** Whether one of these may say so. */
  isBehind(streamed: readonly FirstStreamedRow[]): Promise<boolean>;
  found(unseen: readonly UnseenRow[]): void;
}

export function createHighestUnseen(store: Store): HighestUnseen {
  /** Found by this process; what was before is asked for once. */
  let highest = 0n;
  let stored: bigint | null = null;
  return {
    isBehind: async (streamed) => {
      if (streamed.length === 0) return false;
      if (stored === null) {
        const [row] = await store.query<{ slot: string }>('SELECT max(to_slot) AS slot FROM unseen_changes');
        stored = BigInt(row?.slot ?? 0);
      }
      const most = highest > stored ? highest : stored;
      return streamed.some(({ slot }) => BigInt(slot) < most);
    },
    found: (unseen) => {
      for (const { to_slot } of unseen) if (BigInt(to_slot) > highest) highest = BigInt(to_slot);
    },
  };
}
