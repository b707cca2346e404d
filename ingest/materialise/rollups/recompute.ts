import type { Params, Store } from '../../../clickhouse/client.ts';
import { isRefusal } from '../../../clickhouse/coalesce.ts';
import { createBatcher } from '../../../runtime/batcher.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { recomputeKinds } from './kinds.ts';
import { recomputePolicyTotals } from './policy-totals.ts';
import { recomputeQuoteDays } from './quote-days.ts';
import { SPANS_PER_STATEMENT, type Touched } from './slot-intervals.ts';

/** What a batch of a partition of the log touched, up to an offset; its facts are written. */
export interface Recompute extends Touched {
  partition: number;
  offset: bigint;
  /** False once the partition was taken away: nothing is written for it then. */
  owned(): boolean;
}

/** The most mints and intervals of several batches recomputed together; a single batch may have touched more. */
const MOST_TOUCHED = 10_000;

/**
 * Recomputes the rollups that batches touched, those of several partitions together. What one batch touched is then
 * recomputed for the other partitions too: that costs less than statements for each, and is as correct, since the facts
 * of each partition are written up to its offset.
 */
export function createRollups(store: Store): (one: Recompute) => Promise<void> {
  return createBatcher({
    work: (all: readonly Recompute[]) => recompute(store, all),
    sizeOf: ({ mints, intervals }) => mints.size + intervals.size,
    most: MOST_TOUCHED,
    isDueToOneItem: isRefusal,
  });
}

async function recompute(store: Store, all: readonly Recompute[]): Promise<void> {
  const touched: Touched = {
    mints: new Set(all.flatMap(({ mints }) => [...mints])),
    intervals: new Set(all.flatMap(({ intervals }) => [...intervals])),
  };
  const write = async (sql: string, params: Params) => {
    for (const some of inPieces(params)) {
      const owned = all.filter((one) => one.owned());
      if (owned.length === 0) return;
      const partitions = owned.map(({ partition }) => partition);
      await store.command(sql, { ...some, partitions, offsets: owned.map(({ offset }) => offset) });
    }
  };
  await Promise.all([recomputePolicyTotals(write, touched), recomputeQuoteDays(write, touched)]);
  // Last: their rows tell later writers that no span of these intervals lacks (`unwrittenSpans`).
  await recomputeKinds(write, touched);
}

/**
 * Each row is of one span, or of a day that a span has, and made from all that is stored: the list can be cut anywhere.
 */
function inPieces(params: Params): Params[] {
  const { spans } = params;
  if (!Array.isArray(spans)) return [params];
  return chunks(spans, SPANS_PER_STATEMENT).map((some) => ({ ...params, spans: some }));
}
