import type { Store } from '../../../clickhouse/client.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { NARROWEST, SPANS_PER_STATEMENT, type Touched } from './slot-intervals.ts';

/**
 * The intervals, and their mints, whose spans may lack what was written before: a writer keeps back the spans of one
 * interval, the last that a batch touched alone. Rows of `kind_spans` are written with each batch, and tell which that
 * is. Rows of batches beyond `applied` come again, and may have taken the place of the row that told it.
 * @param applied the offset up to which the partition is applied.
 */
export async function unwrittenSpans(store: Store, partition: number, applied: bigint): Promise<Touched> {
  const of = { partition, applied };
  const runs = await store.query<{ span: string; ahead: 0 | 1 }>(
    `SELECT DISTINCT k.span AS span, k.log_offset > {applied:Int64} AS ahead FROM kind_spans AS k
     WHERE k.log_partition = {partition:UInt32} AND (k.log_offset > {applied:Int64} OR k.log_offset = (
       SELECT max(log_offset) FROM kind_spans
       WHERE log_partition = {partition:UInt32} AND log_offset <= {applied:Int64}))`,
    of,
  );
  const last = runs.filter(({ ahead }) => ahead === 0);
  // Several intervals that were touched together were made by the engine, with all their spans.
  const lacking = runs.filter(({ ahead }) => ahead === 1 || last.length === 1);
  const intervals = new Set(lacking.map(({ span }) => BigInt(span)));
  if (intervals.size === 0) return { mints: new Set(), intervals };
  const mints = new Set<string>();
  for (const spans of chunks([...intervals], SPANS_PER_STATEMENT)) {
    const rows = await store.query<{ mint: string }>(
      `SELECT DISTINCT mint FROM events_by_slot
       WHERE intDiv(slot, ${NARROWEST}) IN {spans:Array(UInt64)} AND log_partition = {partition:UInt32} AND mint != ''`,
      { spans, partition },
    );
    for (const { mint } of rows) mints.add(mint);
  }
  return { mints, intervals };
}
