import { pause } from '../../runtime/process/lifecycle.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { blockTimeOrNull } from '../accounts/block-time.ts';

export interface SlotTimesOptions {
  rpc: Pick<Rpc, 'getBlockTime'>;
  /** Unix seconds of a slot as the stream told it; null where it did not. */
  told(slot: bigint): number | null;
  /** Whether the stream has come to the slot or past it. */
  passed(slot: bigint): boolean;
  signal: AbortSignal;
  everyMs?: number;
}

const EVERY_MS = 250;
/** Looks at the stream before it is given up: a node that is ahead of it is so by a few slots. */
const TRIES = 8;

/**
 * The block time of a slot, from the stream or else from the nodes. Where none of them knows it, this waits for the
 * stream to pass the slot; where the stream does not get that far, it asks the nodes once more, since the one that
 * answered may have been behind.
 */
export function createSlotTimes(options: SlotTimesOptions): (slot: bigint) => Promise<number | null> {
  const { rpc, told, passed, signal, everyMs = EVERY_MS } = options;
  return async (slot) => {
    const time = told(slot) ?? (await blockTimeOrNull(rpc, slot));
    if (time !== null) return time;
    for (let tries = 0; tries < TRIES && !passed(slot) && !signal.aborted; tries += 1)
      await pause(everyMs, signal);
    if (passed(slot) || signal.aborted) return told(slot);
    return told(slot) ?? blockTimeOrNull(rpc, slot);
  };
}
