/** A column of sums: how it follows from facts `e`, and from rows `s` that hold sums already. */
export interface Figure {
  column: string;
  ofFacts: string;
  ofSums: string;
}

type Amount = 'amount_a' | 'amount_b' | 'amount_c' | 'amount_d';
type Kind = 'FeesClaimed' | 'Routed' | 'ProfitSwept' | 'BuybackBurned';

const total = (column: string, kind: Kind, amount: Amount): Figure => ({
  column,
  ofFacts: `sumIf(toUInt128(e.${amount}), e.kind = '${kind}')`,
  ofSums: `sum(s.${column})`,
});
const count = (column: string, ofFacts: string): Figure => ({ column, ofFacts, ofSums: `sum(s.${column})` });
const newest = (column: string, ofFacts: string): Figure => ({ column, ofFacts, ofSums: `max(s.${column})` });
const newestOf = (column: string, kind: Kind) =>
  newest(column, `maxOrNullIf(e.block_time, e.kind = '${kind}')`);

export const POLICY_FIGURES: readonly Figure[] = [
  total('fees_quote', 'FeesClaimed', 'amount_a'),
  total('fees_base', 'FeesClaimed', 'amount_b'),
  count('claim_count', "countIf(e.kind = 'FeesClaimed')"),
  newestOf('last_claim', 'FeesClaimed'),
  total('routed', 'Routed', 'amount_a'),
  total('protocol_cut', 'Routed', 'amount_b'),
  total('routed_to_lp', 'Routed', 'amount_c'),
  total('routed_to_bankroll', 'Routed', 'amount_d'),
  newestOf('last_routed', 'Routed'),
  total('profit', 'ProfitSwept', 'amount_a'),
  total('profit_to_lp', 'ProfitSwept', 'amount_b'),
  total('profit_to_holders', 'ProfitSwept', 'amount_c'),
  newestOf('last_swept', 'ProfitSwept'),
  total('buyback_spent', 'BuybackBurned', 'amount_a'),
  total('buyback_burned', 'BuybackBurned', 'amount_b'),
  newestOf('last_buyback', 'BuybackBurned'),
  count('event_count', "countIf(e.kind != '')"),
];

/** Of facts with a column `is_fact`: 0 in rows that stand for a sum which may have no fact left. */
export const QUOTE_FIGURES: readonly Figure[] = [
  total('routed_to_lp', 'Routed', 'amount_c'),
  total('routed_to_bankroll', 'Routed', 'amount_d'),
  total('protocol_cut', 'Routed', 'amount_b'),
  total('profit', 'ProfitSwept', 'amount_a'),
  total('buyback_spent', 'BuybackBurned', 'amount_a'),
  count('event_count', 'countIf(e.is_fact = 1)'),
  newest('last_event', 'max(e.block_time)'),
];

export const columns = (figures: readonly Figure[]): string => figures.map(({ column }) => column).join(', ');

export const selected = (figures: readonly Figure[], from: 'ofFacts' | 'ofSums'): string =>
  figures.map((figure) => `${figure[from]} AS ${figure.column}`).join(',\n  ');

/**
 * The condition and the version of rows of some partitions of the log, recomputed up to an offset in each. A row of
 * version `offset` holds every fact of its partition up to that offset, so that of two writers the one that has seen
 * more wins.
 */
export const inPartitions = (table: 'e' | 's') => `has({partitions:Array(UInt32)}, ${table}.log_partition)`;
export const upToOffset = (table: 'e' | 's') =>
  `{offsets:Array(UInt64)}[indexOf({partitions:Array(UInt32)}, ${table}.log_partition)]`;
