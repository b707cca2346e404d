import { type IntervalFacts, type Keys, partsOf } from './interval-facts.ts';
import type { DayOutsideSums, OutsideSums } from './outside-interval.ts';
import { NARROWEST, WIDTHS } from './slot-intervals.ts';
import { KIND_COLUMNS, POLICY_COLUMNS, QUOTE_COLUMNS } from './summed-columns.ts';
import { columnsOf, noSums, sumOf } from './sums.ts';

/** An interval's facts, and the sums over all that lies outside of it. */
export interface Surroundings {
  interval: bigint;
  facts: IntervalFacts;
  policies: ReadonlyMap<string, OutsideSums>;
  days: ReadonlyMap<string, DayOutsideSums>;
}

/** What readers add up. */
export interface TotalRows {
  policy_totals: object[];
  quote_days: object[];
  kind_spans: object[];
}

/** The spans that totals are made of again once another interval is touched. */
export interface SpanRows {
  policy_spans: object[];
  quote_spans: object[];
}

/** The version of rows: the offset up to which they hold every fact of the partition. */
interface At {
  partition: number;
  offset: bigint;
}

const versionOf = ({ partition, offset }: At) => ({
  log_partition: partition,
  log_offset: offset.toString(),
});

/** The rows of these keys, as the engine would make them from its tables. */
export function totalRows({ interval, facts, policies, days }: Surroundings, keys: Keys, at: At): TotalRows {
  const rows: TotalRows = { policy_totals: [], quote_days: [], kind_spans: [] };
  const version = versionOf(at);
  const span = interval.toString();
  for (const mint of keys.mint) {
    const sums = (policies.get(mint) as OutsideSums).reduce(
      (sum, outside) => sumOf(POLICY_COLUMNS, sum, outside),
      facts.sums('mint', mint),
    );
    rows.policy_totals.push({ mint, ...version, ...columnsOf(POLICY_COLUMNS, sums) });
  }
  for (const key of keys.quote) {
    const [day = '', quote_mint = ''] = partsOf(key);
    const outside = days.get(day)?.get(quote_mint) ?? noSums(QUOTE_COLUMNS);
    const whole = columnsOf(QUOTE_COLUMNS, sumOf(QUOTE_COLUMNS, facts.sums('quote', key), outside));
    rows.quote_days.push({ day, quote_mint, ...version, ...whole });
  }
  for (const key of keys.kind) {
    const [kind, actor] = partsOf(key);
    const sums = columnsOf(KIND_COLUMNS, facts.sums('kind', key));
    rows.kind_spans.push({ span, kind, actor, ...version, ...sums });
  }
  return rows;
}

/** The span rows of these keys, likewise. */
export function spanRows(
  { interval, facts, policies }: Surroundings,
  keys: Pick<Keys, 'mint' | 'quote'>,
  at: At,
): SpanRows {
  const rows: SpanRows = { policy_spans: [], quote_spans: [] };
  const version = versionOf(at);
  for (const mint of keys.mint) {
    let sums = facts.sums('mint', mint);
    const outside = policies.get(mint) as OutsideSums;
    for (const [level, width] of WIDTHS.entries()) {
      const span = (interval / BigInt(width / NARROWEST)).toString();
      rows.policy_spans.push({ mint, width, span, ...version, ...columnsOf(POLICY_COLUMNS, sums) });
      sums = sumOf(POLICY_COLUMNS, sums, outside[level] as OutsideSums[number]);
    }
  }
  for (const key of keys.quote) {
    const [day = '', quote_mint = ''] = partsOf(key);
    const sums = columnsOf(QUOTE_COLUMNS, facts.sums('quote', key));
    rows.quote_spans.push({ day, span: interval.toString(), quote_mint, ...version, ...sums });
  }
  return rows;
}
