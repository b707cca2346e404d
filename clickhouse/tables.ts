import type { AccountColumns } from '../schemas/program/account-fields.ts';

/**
 * Rows as they are inserted, one interface per table of the migrations: integers over 32 bits are decimal strings,
 * flags 0 or 1, keys and signatures base58, times unix seconds unless the column says otherwise.
 */

/** First columns of every latest-state table. */
export interface StateRow {
  address: string;
  slot: string;
  version: string;
  block_time: number | null;
  source: string;
  exists: 0 | 1;
}

/** Beside the account's fields: the transaction that wrote it, and its token accounts. */
export interface PolicyColumns extends AccountColumns<'Policy'> {
  signature: string | null;
  bankroll: string;
  quote_escrow: string;
  base_escrow: string;
  holder_rewards: string;
}

export interface TokenAccountColumns {
  mint: string;
  owner: string;
  amount: string;
}

export interface MintColumns {
  token_program: string;
  decimals: number;
  supply: string;
  name: string | null;
  symbol: string | null;
  uri: string | null;
  metadata_pointer: string | null;
}

export interface MetadataAccountColumns {
  mint: string;
  name: string;
  symbol: string;
  uri: string;
}

export interface PoolColumns {
  program: string;
  status: number;
  base_decimals: number;
  quote_decimals: number;
  supply: string;
  virtual_base: string;
  virtual_quote: string;
  real_base: string;
  real_quote: string;
  global_config: string;
  base_mint: string;
  quote_mint: string;
}

export interface CurveConfigColumns {
  curve_type: number;
}

/** The columns behind the first ones, by latest-state table. */
export interface LatestColumns {
  policies: PolicyColumns;
  venue_accounts: AccountColumns<'VenueAccount'>;
  token_accounts: TokenAccountColumns;
  mints: MintColumns;
  metadata_accounts: MetadataAccountColumns;
  pools: PoolColumns;
  curve_configs: CurveConfigColumns;
  protocol_config: AccountColumns<'ProtocolConfig'>;
  origins: AccountColumns<'Origin'>;
  models: AccountColumns<'Model'>;
}

export type LatestTable = keyof LatestColumns;

export const LATEST_TABLES: readonly LatestTable[] = [
  'policies',
  'venue_accounts',
  'token_accounts',
  'mints',
  'metadata_accounts',
  'pools',
  'curve_configs',
  'protocol_config',
  'origins',
  'models',
];

/** A row as it is read: integers over 32 bits come as text. */
export type ReadState<T extends LatestTable> = Omit<StateRow, 'block_time'> & {
  block_time: string | null;
} & LatestColumns[T];

/** Columns of a table that a question reads, checked at compile time to be columns of that table. */
export const readColumns = <T extends LatestTable, const C extends readonly (keyof ReadState<T>)[]>(
  _table: T,
  columns: C,
): C => columns;

/** Columns of a state that its row of an hour keeps, by the table of latest states. */
export const HOUR_COLUMNS = {
  policies: [
    ...(['quote_mint', 'venue_count', 'fees_claimed', 'protocol_fees', 'routed_to_lp'] as const),
    ...(['routed_to_bankroll', 'profit_swept', 'paid_to_holders', 'tokens_burned'] as const),
    ...(['credit_spent', 'hwm'] as const),
  ],
  venue_accounts: [
    ...(['policy', 'token_account', 'kind', 'revoked', 'remote_equity', 'remote_asof'] as const),
    'bridged_out',
  ],
  token_accounts: ['amount'],
  pools: [
    ...(['status', 'base_decimals', 'quote_decimals', 'supply', 'virtual_base', 'virtual_quote'] as const),
    ...(['real_base', 'real_quote', 'global_config'] as const),
  ],
  curve_configs: ['curve_type'],
} as const satisfies { [T in LatestTable]?: readonly (keyof LatestColumns[T])[] };

export type HourTable = keyof typeof HOUR_COLUMNS;

/** What a transaction's place in the chain is. */
export interface TransactionOrder {
  tx_index: number;
  /** Its rank among the readings of the transaction: reading-rank.ts. */
  has_index: number;
  block_time: number | null;
}

export interface EventRow extends TransactionOrder {
  policy: string;
  mint: string;
  quote_mint: string;
  slot: string;
  signature: string;
  position: number;
  kind: string;
  actor: string;
  /** JSON object. */
  summary: string;
  amount_a: string;
  amount_b: string;
  amount_c: string;
  amount_d: string;
  log_partition: number;
}

export interface TransactionRow extends TransactionOrder {
  signature: string;
  slot: string;
  failed: 0 | 1;
}

export interface PolicyTransactionRow extends TransactionOrder {
  policy: string;
  slot: string;
  signature: string;
}

export interface IncompleteRow {
  signature: string;
  slot: string;
  block_time: number | null;
  policies: string[];
  /** Empty where all of it was derived. */
  missing: string[];
  reason: string;
}

/** A derived event's place among the events. */
export interface DerivedRow {
  slot: string;
  signature: string;
  position: number;
  policy: string;
  mint: string;
  quote_mint: string;
  block_time: number | null;
  log_partition: number;
  taken_back: 0 | 1;
}
