type Amount = 'amount_a' | 'amount_b' | 'amount_c' | 'amount_d';
type Kind = 'FeesClaimed' | 'Routed' | 'ProfitSwept' | 'BuybackBurned';

/** A column of sums; a kind of null is any. */
export type SummedColumn = { column: string } & (
  | { is: 'total'; kind: Kind; amount: Amount }
  | { is: 'count'; kind: Kind | null }
  /** Those whose block time is known. */
  | { is: 'dated'; kind: null }
  /** Block times. */
  | { is: 'newest' | 'oldest'; kind: Kind | null }
);

const total = (column: string, kind: Kind, amount: Amount): SummedColumn => ({
  column,
  is: 'total',
  kind,
  amount,
});
const count = (column: string, kind: Kind | null = null): SummedColumn => ({ column, is: 'count', kind });
const newest = (column: string, kind: Kind | null = null): SummedColumn => ({ column, is: 'newest', kind });

export const POLICY_COLUMNS: readonly SummedColumn[] = [
  total('fees_quote', 'FeesClaimed', 'amount_a'),
  total('fees_base', 'FeesClaimed', 'amount_b'),
  count('claim_count', 'FeesClaimed'),
  newest('last_claim', 'FeesClaimed'),
  total('routed', 'Routed', 'amount_a'),
  total('protocol_cut', 'Routed', 'amount_b'),
  total('routed_to_lp', 'Routed', 'amount_c'),
  total('routed_to_bankroll', 'Routed', 'amount_d'),
  newest('last_routed', 'Routed'),
  total('profit', 'ProfitSwept', 'amount_a'),
  total('profit_to_lp', 'ProfitSwept', 'amount_b'),
  total('profit_to_holders', 'ProfitSwept', 'amount_c'),
  newest('last_swept', 'ProfitSwept'),
  total('buyback_spent', 'BuybackBurned', 'amount_a'),
  total('buyback_burned', 'BuybackBurned', 'amount_b'),
  newest('last_buyback', 'BuybackBurned'),
  count('event_count'),
];

export const QUOTE_COLUMNS: readonly SummedColumn[] = [
  total('routed_to_lp', 'Routed', 'amount_c'),
  total('routed_to_bankroll', 'Routed', 'amount_d'),
  total('protocol_cut', 'Routed', 'amount_b'),
  total('profit', 'ProfitSwept', 'amount_a'),
  total('buyback_spent', 'BuybackBurned', 'amount_a'),
  count('event_count'),
  newest('last_event'),
];

export const KIND_COLUMNS: readonly SummedColumn[] = [
  { column: 'event_count', is: 'dated', kind: null },
  { column: 'first_event', is: 'oldest', kind: null },
  newest('last_event'),
];

export const columnNames = (columns: readonly SummedColumn[]): string =>
  columns.map(({ column }) => column).join(', ');

export const selected = (columns: readonly SummedColumn[], from: 'ofFacts' | 'ofSums'): string =>
  columns
    .map((summed) => `${from === 'ofFacts' ? ofFacts(summed) : ofSums(summed)} AS ${summed.column}`)
    .join(',\n  ');

/** From facts `e`; rows of kind '' stand for a sum which may have no fact left. */
function ofFacts(summed: SummedColumn): string {
  const { kind } = summed;
  const when = kind === null ? "e.kind != ''" : `e.kind = '${kind}'`;
  if (summed.is === 'total') return `sumIf(toUInt128(e.${summed.amount}), ${when})`;
  if (summed.is === 'count') return `countIf(${when})`;
  if (summed.is === 'dated') return 'countIf(e.block_time IS NOT NULL)';
  return `${summed.is === 'newest' ? 'max' : 'min'}OrNullIf(e.block_time, ${when})`;
}

/** From rows `s` that hold sums already. */
function ofSums({ is, column }: SummedColumn): string {
  if (is === 'newest') return `max(s.${column})`;
  if (is === 'oldest') return `min(s.${column})`;
  return `sum(s.${column})`;
}

/**
 * The condition and the version of rows of some partitions of the log, recomputed up to an offset in each. A row of
 * version `offset` holds every fact of its partition up to that offset, so that of two writers the one that has seen
 * more wins.
 */
export const inPartitions = (table: 'e' | 's') => `has({partitions:Array(UInt32)}, ${table}.log_partition)`;
export const upToOffset = (table: 'e' | 's') =>
  `{offsets:Array(UInt64)}[indexOf({partitions:Array(UInt32)}, ${table}.log_partition)]`;
