import type { Params } from '../../../clickhouse/client.ts';
import { NARROWEST, type Touched } from './slot-intervals.ts';
import { columnNames, inPartitions, QUOTE_COLUMNS, selected, upToOffset } from './summed-columns.ts';

/**
 * A corrected block time may take the last event of an interval to another day: each key that has a row gets a new one, of
 * zeros where no fact is left.
 */
const SPANS = `
INSERT INTO quote_spans (day, span, quote_mint, log_partition, log_offset, ${columnNames(QUOTE_COLUMNS)})
SELECT
  e.day, e.span, e.quote_mint, e.log_partition, ${upToOffset('e')} AS log_offset,
  ${selected(QUOTE_COLUMNS, 'ofFacts')}
FROM (
  SELECT toDate(fromUnixTimestamp64Second(assumeNotNull(e.block_time), 'UTC')) AS day, intDiv(e.slot, ${NARROWEST}) AS span,
    e.quote_mint AS quote_mint, e.log_partition AS log_partition, e.kind AS kind,
    e.amount_a AS amount_a, e.amount_b AS amount_b, e.amount_c AS amount_c, e.amount_d AS amount_d,
    e.block_time AS block_time
  FROM events_by_slot AS e FINAL
  WHERE intDiv(e.slot, ${NARROWEST}) IN {spans:Array(UInt64)} AND e.block_time IS NOT NULL AND ${inPartitions('e')}
  UNION ALL
  SELECT s.day, s.span, s.quote_mint, s.log_partition, '', 0, 0, 0, 0, NULL
  FROM quote_spans AS s
  WHERE s.span IN {spans:Array(UInt64)} AND ${inPartitions('s')}
) AS e
GROUP BY e.day, e.span, e.quote_mint, e.log_partition`;

const DAYS = `
INSERT INTO quote_days (day, quote_mint, log_partition, log_offset, ${columnNames(QUOTE_COLUMNS)})
SELECT
  s.day, s.quote_mint, s.log_partition, ${upToOffset('s')} AS log_offset,
  ${selected(QUOTE_COLUMNS, 'ofSums')}
FROM quote_spans AS s FINAL
WHERE s.day IN (SELECT day FROM quote_spans WHERE span IN {spans:Array(UInt64)}) AND ${inPartitions('s')}
GROUP BY s.day, s.quote_mint, s.log_partition`;

/** Works out the touched intervals from the facts, and the days over them. */
export async function recomputeQuoteDays(
  write: (sql: string, params: Params) => Promise<void>,
  touched: Touched,
): Promise<void> {
  const spans = [...touched.intervals];
  await write(SPANS, { spans });
  await write(DAYS, { spans });
}
