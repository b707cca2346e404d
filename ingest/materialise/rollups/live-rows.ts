import { type IntervalFacts, type Keys, partsOf } from './interval-facts.ts';
import type { DayRests, Rests } from './outside-interval.ts';
import { NARROWEST, WIDTHS } from './slot-intervals.ts';
import { KIND_COLUMNS, POLICY_COLUMNS, QUOTE_COLUMNS } from './summed-columns.ts';
import { columnsOf, noSums, sumOf } from './sums.ts';

/** An interval's facts, and the sums over all that lies outside of it. */
export interface Surroundings {
  interval: bigint;
  facts: IntervalFacts;
  policies: ReadonlyMap<string, Rests>;
  days: ReadonlyMap<string, DayRests>;
}

export interface LiveRows {
  policy_spans: object[];
  policy_totals: object[];
  quote_spans: object[];
  quote_days: object[];
  kind_spans: object[];
}

/** The rows of these keys, as the engine would make them from its tables. @param at their version: up to which offset they hold every fact. */
export function liveRows(
  { interval, facts, policies, days }: Surroundings,
  keys: Keys,
  at: { partition: number; offset: bigint },
): LiveRows {
  const rows: LiveRows = {
    ...{ policy_spans: [], policy_totals: [], quote_spans: [], quote_days: [], kind_spans: [] },
  };
  const version = { log_partition: at.partition, log_offset: at.offset.toString() };
  const span = interval.toString();
  for (const mint of keys.mint) {
    let sums = facts.sums('mint', mint);
    const rests = policies.get(mint) as Rests;
    for (const [level, width] of WIDTHS.entries()) {
      const place = (interval / BigInt(width / NARROWEST)).toString();
      const row = { mint, width, span: place, ...version, ...columnsOf(POLICY_COLUMNS, sums) };
      rows.policy_spans.push(row);
      sums = sumOf(POLICY_COLUMNS, sums, rests[level] as Rests[number]);
    }
    rows.policy_totals.push({ mint, ...version, ...columnsOf(POLICY_COLUMNS, sums) });
  }
  for (const key of keys.quote) {
    const [day = '', quote_mint = ''] = partsOf(key);
    const sums = facts.sums('quote', key);
    const rest = days.get(day)?.get(quote_mint) ?? noSums(QUOTE_COLUMNS);
    rows.quote_spans.push({ day, span, quote_mint, ...version, ...columnsOf(QUOTE_COLUMNS, sums) });
    const whole = columnsOf(QUOTE_COLUMNS, sumOf(QUOTE_COLUMNS, sums, rest));
    rows.quote_days.push({ day, quote_mint, ...version, ...whole });
  }
  for (const key of keys.kind) {
    const [kind, actor] = partsOf(key);
    rows.kind_spans.push({
      span,
      kind,
      actor,
      ...version,
      ...columnsOf(KIND_COLUMNS, facts.sums('kind', key)),
    });
  }
  return rows;
}
