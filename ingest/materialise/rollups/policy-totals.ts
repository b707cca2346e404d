import type { Params } from '../../../clickhouse/client.ts';
import { chunks } from '../../../runtime/chunks.ts';
import { enclosingIntervals, NARROWEST, type Touched, WIDTHS } from './slot-intervals.ts';
import { columnNames, inPartitions, POLICY_COLUMNS, selected, upToOffset } from './summed-columns.ts';

/** Mints in one statement: the list travels as a bound parameter. */
const MINTS_PER_STATEMENT = 500;
const WIDEST = WIDTHS[WIDTHS.length - 1] as number;

/**
 * An event that was decided to be another policy's may have been a policy's last of an interval: each key that has a
 * row gets a new one.
 */
const OF_FACTS = `
INSERT INTO policy_spans (mint, width, span, log_partition, log_offset, ${columnNames(POLICY_COLUMNS)})
SELECT
  e.mint, ${NARROWEST}, e.span, e.log_partition, ${upToOffset('e')} AS log_offset,
  ${selected(POLICY_COLUMNS, 'ofFacts')}
FROM (
  SELECT e.mint AS mint, intDiv(e.slot, ${NARROWEST}) AS span, e.log_partition AS log_partition, e.kind AS kind,
    e.amount_a AS amount_a, e.amount_b AS amount_b, e.amount_c AS amount_c, e.amount_d AS amount_d,
    e.block_time AS block_time
  FROM events_by_slot AS e FINAL
  WHERE intDiv(e.slot, ${NARROWEST}) IN {spans:Array(UInt64)} AND e.mint IN {mints:Array(String)}
    AND ${inPartitions('e')}
  UNION ALL
  SELECT s.mint, s.span, s.log_partition, '', 0, 0, 0, 0, NULL
  FROM policy_spans AS s
  WHERE s.mint IN {mints:Array(String)} AND s.width = ${NARROWEST} AND s.span IN {spans:Array(UInt64)}
    AND ${inPartitions('s')}
) AS e
GROUP BY e.mint, e.span, e.log_partition`;

/** Makes the spans of a width from those of the next narrower one. */
const OF_SPANS = `
INSERT INTO policy_spans (mint, width, span, log_partition, log_offset, ${columnNames(POLICY_COLUMNS)})
SELECT
  s.mint, {width:UInt32}, intDiv(s.span, {each:UInt32}) AS wide, s.log_partition, ${upToOffset('s')} AS log_offset,
  ${selected(POLICY_COLUMNS, 'ofSums')}
FROM policy_spans AS s FINAL
WHERE s.mint IN {mints:Array(String)} AND s.width = {narrow:UInt32}
  AND intDiv(s.span, {each:UInt32}) IN {spans:Array(UInt64)} AND ${inPartitions('s')}
GROUP BY s.mint, wide, s.log_partition`;

const TOTALS = `
INSERT INTO policy_totals (mint, log_partition, log_offset, ${columnNames(POLICY_COLUMNS)})
SELECT
  s.mint, s.log_partition, ${upToOffset('s')} AS log_offset,
  ${selected(POLICY_COLUMNS, 'ofSums')}
FROM policy_spans AS s FINAL
WHERE s.mint IN {mints:Array(String)} AND s.width = ${WIDEST} AND ${inPartitions('s')}
GROUP BY s.mint, s.log_partition`;

/** Works out the touched intervals of the touched policies from the facts, the wider ones over them, and their totals. */
export async function recomputePolicyTotals(
  write: (sql: string, params: Params) => Promise<void>,
  touched: Touched,
): Promise<void> {
  for (const mints of chunks([...touched.mints], MINTS_PER_STATEMENT)) {
    await write(OF_FACTS, { mints, spans: [...touched.intervals] });
    let narrow: number = NARROWEST;
    for (const width of WIDTHS.slice(1)) {
      const each = width / narrow;
      await write(OF_SPANS, {
        mints,
        spans: enclosingIntervals(touched.intervals, width),
        width,
        narrow,
        each,
      });
      narrow = width;
    }
    await write(TOTALS, { mints });
  }
}
