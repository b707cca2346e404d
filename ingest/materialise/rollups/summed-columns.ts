import type { POLICY_SUMS, QUOTE_SUMS } from '../../../clickhouse/sum-columns.ts';

type Amount = 'amount_a' | 'amount_b' | 'amount_c' | 'amount_d';
type Kind = 'FeesClaimed' | 'Routed' | 'ProfitSwept' | 'BuybackBurned';

/** How a column of sums is made; `kind` null means events of any kind. */
type Sum =
  | { is: 'total'; kind: Kind; amount: Amount }
  | { is: 'count'; kind: Kind | null }
  /** Counts the events whose block time is known. */
  | { is: 'dated'; kind: null };
/** The newest or the oldest block time. */
type Time = { is: 'newest' | 'oldest'; kind: Kind | null };

export type SummedColumn = { column: string } & (Sum | Time);

/** How each column that readers know is made. */
type MadeOf<Read> = { [Name in keyof Read]: Read[Name] extends 'time' ? Time : Sum };

const total = (kind: Kind, amount: Amount): Sum => ({ is: 'total', kind, amount });
const count = (kind: Kind | null = null): Sum => ({ is: 'count', kind });
const newest = (kind: Kind | null = null): Time => ({ is: 'newest', kind });

const OF_POLICY: MadeOf<typeof POLICY_SUMS> = {
  fees_quote: total('FeesClaimed', 'amount_a'),
  fees_base: total('FeesClaimed', 'amount_b'),
  claim_count: count('FeesClaimed'),
  last_claim: newest('FeesClaimed'),
  routed: total('Routed', 'amount_a'),
  protocol_cut: total('Routed', 'amount_b'),
  routed_to_lp: total('Routed', 'amount_c'),
  routed_to_bankroll: total('Routed', 'amount_d'),
  last_routed: newest('Routed'),
  profit: total('ProfitSwept', 'amount_a'),
  profit_to_lp: total('ProfitSwept', 'amount_b'),
  profit_to_holders: total('ProfitSwept', 'amount_c'),
  last_swept: newest('ProfitSwept'),
  buyback_spent: total('BuybackBurned', 'amount_a'),
  buyback_burned: total('BuybackBurned', 'amount_b'),
  last_buyback: newest('BuybackBurned'),
  event_count: count(),
};

const OF_QUOTE: MadeOf<typeof QUOTE_SUMS> = {
  routed_to_lp: total('Routed', 'amount_c'),
  routed_to_bankroll: total('Routed', 'amount_d'),
  protocol_cut: total('Routed', 'amount_b'),
  profit: total('ProfitSwept', 'amount_a'),
  buyback_spent: total('BuybackBurned', 'amount_a'),
  event_count: count(),
  last_event: newest(),
};

const columnsMade = (made: Record<string, Sum | Time>): readonly SummedColumn[] =>
  Object.entries(made).map(([column, how]) => ({ column, ...how }));

export const POLICY_COLUMNS = columnsMade(OF_POLICY);
export const QUOTE_COLUMNS = columnsMade(OF_QUOTE);
export const KIND_COLUMNS = columnsMade({
  event_count: { is: 'dated', kind: null },
  first_event: { is: 'oldest', kind: null },
  last_event: newest(),
});

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
