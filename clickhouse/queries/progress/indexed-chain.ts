import type { Rpc, RpcNodes } from '../../../runtime/rpc/rpc.ts';
import { onlySameChain, otherChainWarning, type SlotTime } from '../../../runtime/rpc/same-chain.ts';
import type { Store } from '../../client.ts';

/** The highest applied slot of any partition whose block time is known. */
export async function lastPlace(store: Store): Promise<SlotTime | null> {
  const [row] = await store.query<{ slot: string; time: string }>(
    `SELECT slot, block_time AS time FROM applied FINAL
     WHERE topic IN ('accounts', 'transactions') AND block_time IS NOT NULL
     ORDER BY slot DESC LIMIT 1`,
    {},
  );
  return row === undefined ? null : { slot: BigInt(row.slot), time: Number(row.time) };
}

/** The last slot with an event of known time that lies at least `slots` before the last applied one. */
export async function placeBefore(
  store: Store,
  slots: bigint,
): Promise<(SlotTime & { time: number }) | null> {
  const last = await lastPlace(store);
  if (last === null || last.slot < slots) return null;
  const [row] = await store.query<{ slot: string; time: string }>(
    `SELECT slot, max(block_time) AS time FROM events_by_slot
     WHERE slot <= {upTo:UInt64} AND block_time IS NOT NULL
     GROUP BY slot ORDER BY slot DESC LIMIT 1`,
    { upTo: last.slot - slots },
  );
  return row === undefined ? null : { slot: BigInt(row.slot), time: Number(row.time) };
}

/** The nodes without those of another chain than the indexed one; a node's verdict holds for a while. */
export const ofIndexedChain = (rpc: RpcNodes, store: () => Store, warn: (words: string) => void): Rpc =>
  onlySameChain(rpc, {
    place: () => lastPlace(store()),
    onOthers: (others, addresses) => {
      if (others.length > 0) warn(otherChainWarning(others, addresses));
    },
  });
