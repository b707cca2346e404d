-- Closing states of the accounts that a policy's figures over time are made of: the last state of each hour that was
-- seen, by its version. A reading over RPC that says what is known stands in the hour of the reading and keeps the time
-- of the state.
CREATE TABLE IF NOT EXISTS account_hours (
  address String, hour UInt32 COMMENT 'of the block time, in hours since 1970', version UInt128,
  block_time Nullable(Int64) COMMENT 'of the state', exists UInt8,
  held_in LowCardinality(String) COMMENT 'its table of latest states; nothing where no account stands and none was expected',
  quote_mint String COMMENT 'this and the next ten: of a policy', venue_count UInt16,
  fees_claimed UInt64, protocol_fees UInt64, routed_to_lp UInt64, routed_to_bankroll UInt64, profit_swept UInt64,
  paid_to_holders UInt64, tokens_burned UInt64, credit_spent UInt64, hwm UInt64,
  amount UInt64 COMMENT 'of a token account',
  policy String COMMENT 'this and the next six: of a venue account', token_account String, kind LowCardinality(String),
  revoked UInt8, remote_equity UInt64, remote_asof Int64, bridged_out UInt64,
  status UInt8 COMMENT 'this and the next eight: of a pool', base_decimals UInt8, quote_decimals UInt8, supply UInt64,
  virtual_base UInt64, virtual_quote UInt64, real_base UInt64, real_quote UInt64, global_config String,
  curve_type UInt8 COMMENT 'of the config of a curve'
) ENGINE = ReplacingMergeTree(version) ORDER BY (address, hour);

-- The slot of the first state of each hour that the stream brought.
CREATE TABLE IF NOT EXISTS first_streamed (
  address String, hour UInt32, slot UInt64, before UInt64 COMMENT '2^64 - 1 - slot: the lowest slot stands'
) ENGINE = ReplacingMergeTree(before) ORDER BY (address, hour);

-- Changes of an account that the stream did not bring: it was what it was known as in after_slot, and another by to_slot.
CREATE TABLE IF NOT EXISTS unseen_changes (
  address String, after_slot UInt64, to_slot UInt64
) ENGINE = ReplacingMergeTree ORDER BY (address, to_slot, after_slot);

-- The first slot of each hour that has a marker.
CREATE TABLE IF NOT EXISTS hour_slots (
  hour UInt32, slot UInt64, before UInt64 COMMENT '2^64 - 1 - slot'
) ENGINE = ReplacingMergeTree(before) ORDER BY hour;

-- Slots that the stream did not bring, whether or not their transactions were read since: behind after_slot, up to to_slot.
CREATE TABLE IF NOT EXISTS stream_holes (
  to_slot UInt64, after_slot UInt64
) ENGINE = ReplacingMergeTree ORDER BY (to_slot, after_slot);

-- The last price of each hour, by our clock.
CREATE TABLE IF NOT EXISTS price_hours (
  mint String, source LowCardinality(String), hour UInt32, read_at UInt64, usd Nullable(String), observed_at Nullable(String)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY (mint, source, hour);

CREATE MATERIALIZED VIEW IF NOT EXISTS prices_to_hours TO price_hours AS
SELECT mint, source, toUInt32(intDiv(read_at, 3600000)) AS hour, read_at, usd, observed_at
FROM prices;
