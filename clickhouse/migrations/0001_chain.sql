-- Latest state of each account. Version: slot << 64 | write_version, from the chain, never from a clock.
-- exists = 0: no account at the address as of slot.

CREATE TABLE IF NOT EXISTS policies (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  signature Nullable(String), exists UInt8,
  mint String, quote_mint String, fee_key_mint String, authority String, agent Nullable(String), guardian String,
  origin String, origin_id UInt16, mode LowCardinality(String), model_id UInt16,
  to_lp_bps UInt16, to_bankroll_bps UInt16,
  profit_to_lp_bps UInt16, profit_to_holders_bps UInt16, profit_to_bankroll_bps UInt16,
  risk UInt8, target_asset String, target_leverage_x UInt8, locked UInt8, paused UInt8,
  fees_claimed UInt64, protocol_fees UInt64, routed_to_lp UInt64, routed_to_bankroll UInt64, profit_swept UInt64,
  paid_to_holders UInt64, tokens_burned UInt64, credit_spent UInt64, hwm UInt64,
  venue_count UInt16, created_at Int64,
  bankroll String, quote_escrow String, base_escrow String, holder_rewards String
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS venue_accounts (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8,
  policy String, token_account String, asset_mint String, kind LowCardinality(String), asset_class UInt8,
  revoked UInt8, remote_account String COMMENT '64 hex digits',
  remote_equity UInt64, remote_notional UInt64, remote_asof Int64, bridged_out UInt64
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS token_accounts (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, mint String, owner String, amount UInt64
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS mints (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, token_program String, decimals UInt8, supply UInt64,
  name Nullable(String), symbol Nullable(String), uri Nullable(String),
  metadata_pointer Nullable(String) COMMENT 'set where the metadata stands in another account'
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

-- Token-2022 metadata kept outside its mint, at the address a MetadataPointer names.
CREATE TABLE IF NOT EXISTS metadata_accounts (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, mint String, name String, symbol String, uri String
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS pools (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, program String, status UInt8, base_decimals UInt8, quote_decimals UInt8, supply UInt64,
  virtual_base UInt64, virtual_quote UInt64, real_base UInt64, real_quote UInt64,
  global_config String, base_mint String, quote_mint String
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS curve_configs (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, curve_type UInt8
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS protocol_config (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, admin String, reporter String, fee_destination String, launchpad_program String,
  amm_program String, paused UInt8, protocol_fee_bps UInt16, max_bankroll_bps UInt16, max_deviation_bps UInt16,
  max_remote_staleness Int64, min_risk_for_class Array(UInt8)
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS origins (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, id UInt16, name String, asset_class_mask UInt8, max_risk UInt8
) ENGINE = ReplacingMergeTree(version) ORDER BY address;

CREATE TABLE IF NOT EXISTS models (
  address String, slot UInt64, version UInt128, block_time Nullable(Int64), source LowCardinality(String),
  exists UInt8, id UInt16, name String, provider String, enabled UInt8, registered_at Int64
) ENGINE = ReplacingMergeTree(version) ORDER BY address;
