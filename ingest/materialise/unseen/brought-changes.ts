import type { Store } from '../../../clickhouse/client.ts';
import type { BroughtRow, UnseenRow } from '../../../clickhouse/hour-tables.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { isKept } from '../rows/hours/hours.ts';
import { stateHash } from '../rows/hours/state-hash.ts';
import { isFromRpc, type SeenState } from '../rows/seen.ts';
import { ADDRESSES_PER_QUESTION } from '../rows/stored-states.ts';

/**
 * A reading over RPC may stand in the log before the streamed state that it saw. That state, once it comes, tells since
 * when the account was as it was read: without it this would never be known for the hours between the two.
 * @param highest the highest slot in which a reading found a change: states streamed behind it tell nothing of any.
 * @param found changes that the readings of this batch found.
 */
export async function broughtRows(
  store: Store,
  states: readonly SeenState[],
  { highest, found }: { highest: bigint; found: readonly UnseenRow[] },
): Promise<BroughtRow[]> {
  const streamed = Map.groupBy(
    states.filter((seen) => seen.record.slot < highest && isKept(seen.table) && !isFromRpc(seen)),
    ({ record }) => encodeBase58(record.address),
  );
  const changes = found.filter(({ address }) => streamed.has(address));
  for (const addresses of chunks([...streamed.keys()], ADDRESSES_PER_QUESTION))
    changes.push(
      ...(await store.query<UnseenRow>(
        `SELECT DISTINCT address, after_slot, to_slot, state FROM unseen_changes
         WHERE address IN {addresses:Array(String)} AND state IS NOT NULL`,
        { addresses },
      )),
    );
  const rows = new Map<string, BroughtRow>();
  for (const { address, after_slot, to_slot, state } of changes)
    for (const seen of streamed.get(address) ?? []) {
      const { slot } = seen.record;
      if (slot <= BigInt(after_slot) || slot >= BigInt(to_slot) || stateHash(seen) !== state) continue;
      rows.set(`${address} ${to_slot} ${slot}`, { address, to_slot, slot: slot.toString() });
    }
  return [...rows.values()];
}
