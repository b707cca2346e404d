/** The columns of the tables of sums: amounts and counts as text, times as unix seconds of the newest event summed. */
type Columns = Readonly<Record<string, 'sum' | 'time'>>;

/** Sums of a policy's events, in `policy_totals` and `policy_spans`. */
export const POLICY_SUMS = {
  fees_quote: 'sum',
  fees_base: 'sum',
  claim_count: 'sum',
  last_claim: 'time',
  routed: 'sum',
  protocol_cut: 'sum',
  routed_to_lp: 'sum',
  routed_to_bankroll: 'sum',
  last_routed: 'time',
  profit: 'sum',
  profit_to_lp: 'sum',
  profit_to_holders: 'sum',
  last_swept: 'time',
  buyback_spent: 'sum',
  buyback_burned: 'sum',
  last_buyback: 'time',
  event_count: 'sum',
} as const satisfies Columns;

/** Sums of a quote asset's events in a day, in `quote_days` and `quote_spans`. */
export const QUOTE_SUMS = {
  routed_to_lp: 'sum',
  routed_to_bankroll: 'sum',
  protocol_cut: 'sum',
  profit: 'sum',
  buyback_spent: 'sum',
  event_count: 'sum',
  last_event: 'time',
} as const satisfies Columns;

export type SumsOf<C extends Columns> = {
  [Name in keyof C]: C[Name] extends 'time' ? string | null : string;
};
export type PolicySums = SumsOf<typeof POLICY_SUMS>;
export type QuoteSums = SumsOf<typeof QUOTE_SUMS>;

const listed = (columns: Columns, sql: Record<Columns[string], (name: string) => string>): string =>
  Object.entries(columns)
    .map(([name, is]) => `${sql[is](name)} AS ${name}`)
    .join(', ');

/** The columns of a row `t` as they stand. */
export const asStored = (columns: Columns): string =>
  listed(columns, { sum: (name) => `toString(t.${name})`, time: (name) => `t.${name}` });

/** The columns of several rows `t` as one. */
export const addedUp = (columns: Columns): string =>
  listed(columns, { sum: (name) => `toString(sum(t.${name}))`, time: (name) => `max(t.${name})` });

/** The sums of no events. */
export const noSums = <C extends Columns>(columns: C): SumsOf<C> =>
  Object.fromEntries(
    Object.entries(columns).map(([name, is]) => [name, is === 'time' ? null : '0']),
  ) as SumsOf<C>;
