import type { Store } from '../../../clickhouse/client.ts';
import { appliedState } from '../../../clickhouse/queries/progress/index-state.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';

export interface CaughtUpOptions {
  store: Store;
  signal: AbortSignal;
  /** The pause between two queries. */
  pauseMs: number;
  /** How long the index may take; an index that does not move at all is given a quarter of it, once. */
  waitMs: number;
}

/** Waits until every slot up to one is applied, followed addresses too; false where the index does not come there in time. */
export function createCaughtUp({
  store,
  signal,
  pauseMs,
  waitMs,
}: CaughtUpOptions): (slot: bigint) => Promise<boolean> {
  let stoodAt: bigint | null = null;
  return async (wanted) => {
    const began = performance.now();
    let first: bigint | null = null;
    while (!signal.aborted) {
      const slot = BigInt((await appliedState(store)).followed);
      if (slot >= wanted) return true;
      if (slot === stoodAt) return false;
      first ??= slot;
      const waited = performance.now() - began;
      if (slot === first && waited >= waitMs / 4) {
        stoodAt = slot;
        return false;
      }
      if (waited >= waitMs) return false;
      await pause(pauseMs, signal);
    }
    return false;
  };
}
