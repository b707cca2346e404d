import type { Params } from '../../../clickhouse/client.ts';
import { columns, inPartitions, KIND_FIGURES, selected, upToOffset } from './figures.ts';
import { NARROWEST, type Touched } from './slot-intervals.ts';

const KINDS = `
INSERT INTO kind_spans (span, kind, actor, log_partition, log_offset, ${columns(KIND_FIGURES)})
SELECT
  intDiv(e.slot, ${NARROWEST}) AS span, e.kind, e.actor, e.log_partition, ${upToOffset('e')} AS log_offset,
  ${selected(KIND_FIGURES, 'ofFacts')}
FROM events_by_slot AS e FINAL
WHERE intDiv(e.slot, ${NARROWEST}) IN {spans:Array(UInt64)} AND ${inPartitions('e')}
GROUP BY span, e.kind, e.actor, e.log_partition`;

/** Counts the events of each kind in the touched intervals. */
export async function recomputeKinds(
  write: (sql: string, params: Params) => Promise<void>,
  touched: Touched,
): Promise<void> {
  await write(KINDS, { spans: [...touched.intervals] });
}
