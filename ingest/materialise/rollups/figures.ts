type Amount = 'amount_a' | 'amount_b' | 'amount_c' | 'amount_d';
type Kind = 'FeesClaimed' | 'Routed' | 'ProfitSwept' | 'BuybackBurned';

/** A column of sums; a kind of null is any. */
export type Figure = { column: string } & (
  | { is: 'total'; kind: Kind; amount: Amount }
  | { is: 'count'; kind: Kind | null }
  /** Those whose block time is known. */
  | { is: 'dated'; kind: null }
  /** Block times. */
  | { is: 'newest' | 'oldest'; kind: Kind | null }
);

const total = (column: string, kind: Kind, amount: Amount): Figure => ({ column, is: 'total', kind, amount });
const count = (column: string, kind: Kind | null = null): Figure => ({ column, is: 'count', kind });
const newest = (column: string, kind: Kind | null = null): Figure => ({ column, is: 'newest', kind });

export const POLICY_FIGURES: readonly Figure[] = [
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

export const QUOTE_FIGURES: readonly Figure[] = [
  total('routed_to_lp', 'Routed', 'amount_c'),
  total('routed_to_bankroll', 'Routed', 'amount_d'),
  total('protocol_cut', 'Routed', 'amount_b'),
  total('profit', 'ProfitSwept', 'amount_a'),
  total('buyback_spent', 'BuybackBurned', 'amount_a'),
  count('event_count'),
  newest('last_event'),
];

export const KIND_FIGURES: readonly Figure[] = [
  { column: 'event_count', is: 'dated', kind: null },
  { column: 'first_event', is: 'oldest', kind: null },
  newest('last_event'),
];

export const columns = (figures: readonly Figure[]): string => figures.map(({ column }) => column).join(', ');

export const selected = (figures: readonly Figure[], from: 'ofFacts' | 'ofSums'): string =>
  figures
    .map((figure) => `${from === 'ofFacts' ? ofFacts(figure) : ofSums(figure)} AS ${figure.column}`)
    .join(',\n  ');

/** From facts `e`; rows of kind '' stand for a sum which may have no fact left. */
function ofFacts(figure: Figure): string {
  const { kind } = figure;
  const when = kind === null ? "e.kind != ''" : `e.kind = '${kind}'`;
  if (figure.is === 'total') return `sumIf(toUInt128(e.${figure.amount}), ${when})`;
  if (figure.is === 'count') return `countIf(${when})`;
  if (figure.is === 'dated') return 'countIf(e.block_time IS NOT NULL)';
  return `${figure.is === 'newest' ? 'max' : 'min'}OrNullIf(e.block_time, ${when})`;
}

/** From rows `s` that hold sums already. */
function ofSums({ is, column }: Figure): string {
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
