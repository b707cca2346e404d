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

export interface PolicyColumns {
  signature: string | null;
  mint: string;
  quote_mint: string;
  fee_key_mint: string;
  authority: string;
  agent: string | null;
  guardian: string;
  origin: string;
  origin_id: number;
  mode: string;
  model_id: number;
  to_lp_bps: number;
  to_bankroll_bps: number;
  profit_to_lp_bps: number;
  profit_to_holders_bps: number;
  profit_to_bankroll_bps: number;
  risk: number;
  target_asset: string;
  target_leverage_x: number;
  locked: 0 | 1;
  paused: 0 | 1;
  fees_claimed: string;
  protocol_fees: string;
  routed_to_lp: string;
  routed_to_bankroll: string;
  profit_swept: string;
  paid_to_holders: string;
  tokens_burned: string;
  credit_spent: string;
  hwm: string;
  venue_count: number;
  created_at: string;
  bankroll: string;
  quote_escrow: string;
  base_escrow: string;
  holder_rewards: string;
}

export interface VenueAccountColumns {
  policy: string;
  token_account: string;
  asset_mint: string;
  kind: string;
  asset_class: number;
  revoked: 0 | 1;
  /** 64 hex digits. */
  remote_account: string;
  remote_equity: string;
  remote_notional: string;
  remote_asof: string;
  bridged_out: string;
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

export interface ProtocolConfigColumns {
  admin: string;
  reporter: string;
  fee_destination: string;
  launchpad_program: string;
  amm_program: string;
  paused: 0 | 1;
  protocol_fee_bps: number;
  max_bankroll_bps: number;
  max_deviation_bps: number;
  max_remote_staleness: string;
  min_risk_for_class: number[];
}

export interface OriginColumns {
  id: number;
  name: string;
  asset_class_mask: number;
  max_risk: number;
}

export interface ModelColumns {
  id: number;
  name: string;
  provider: string;
  enabled: 0 | 1;
  registered_at: string;
}

/** The columns behind the first ones, by latest-state table. */
export interface LatestColumns {
  policies: PolicyColumns;
  venue_accounts: VenueAccountColumns;
  token_accounts: TokenAccountColumns;
  mints: MintColumns;
  metadata_accounts: MetadataAccountColumns;
  pools: PoolColumns;
  curve_configs: CurveConfigColumns;
  protocol_config: ProtocolConfigColumns;
  origins: OriginColumns;
  models: ModelColumns;
}

export type LatestTable = keyof LatestColumns;

/** What a transaction's place in the chain is. */
export interface TransactionOrder {
  tx_index: number;
  has_index: 0 | 1;
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
  reason: string;
}

export interface GapRow {
  from_slot: string;
  log_partition: number;
  log_offset: string;
  to_slot: string;
  to_time: number | null;
  closed: 0 | 1;
}

export interface AppliedRow {
  topic: string;
  log_partition: number;
  log_offset: string;
  slot: string;
  block_time: number | null;
  last_signature: string | null;
  last_signature_slot: string;
  last_signature_index: number;
  /** Unix milliseconds. */
  applied_at: string;
}

export interface DeadLetterRow {
  id: string;
  what: string;
  at: string;
  reason: string;
  source: string;
  slot: string | null;
  byte_length: string;
  /** base64 */
  bytes: string;
  /** Unix milliseconds. */
  read_at: string;
}
