import type { Params } from '../../../clickhouse/client.ts';
import { NARROWEST, type Touched } from './slot-intervals.ts';
import { columnNames, inPartitions, KIND_COLUMNS, selected, upToOffset } from './summed-columns.ts';

/** An event that is taken back may have been the last of its kind: each key that has a row gets a new one. */
const KINDS = `
INSERT INTO kind_spans (span, kind, actor, log_partition, log_offset, ${columnNames(KIND_COLUMNS)})
SELECT
  e.span, e.kind, e.actor, e.log_partition, ${upToOffset('e')} AS log_offset,
  ${selected(KIND_COLUMNS, 'ofFacts')}
FROM (
  SELECT intDiv(e.slot, ${NARROWEST}) AS span, e.kind AS kind, e.actor AS actor, e.log_partition AS log_partition,
    e.block_time AS block_time
  FROM events_by_slot AS e FINAL
  WHERE intDiv(e.slot, ${NARROWEST}) IN {spans:Array(UInt64)} AND e.kind != '' AND ${inPartitions('e')}
  UNION ALL
  SELECT s.span, s.kind, s.actor, s.log_partition, NULL
  FROM kind_spans AS s
  WHERE s.span IN {spans:Array(UInt64)} AND ${inPartitions('s')}
) AS e
GROUP BY e.span, e.kind, e.actor, e.log_partition`;

/** Counts the events of each kind in the touched intervals. */
export async function recomputeKinds(
  write: (sql: string, params: Params) => Promise<void>,
  touched: Touched,
): Promise<void> {
  await write(KINDS, { spans: [...touched.intervals] });
}
