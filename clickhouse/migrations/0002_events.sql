-- Facts. Identity of an event: (signature, position); slot, mint and policy follow from it and lead the key so that
-- a policy's events are read in order. has_index 1 replaces 0: a reading that knows its index in the block wins.

CREATE TABLE IF NOT EXISTS events (
  policy String, mint String, quote_mint String, slot UInt64, signature String, position UInt16,
  tx_index UInt32, has_index UInt8, block_time Nullable(Int64), kind LowCardinality(String), actor LowCardinality(String),
  summary String COMMENT 'JSON object as served by /coins/:mint/activity',
  amount_a UInt64 COMMENT 'FeesClaimed quote_amount; Routed amount; ProfitSwept profit; BuybackBurned spent; BaseLegBurned burned; PassiveDeployed, AgentFundedVenue, CreditNoted amount',
  amount_b UInt64 COMMENT 'FeesClaimed base_amount; Routed protocol_cut; ProfitSwept to_lp; BuybackBurned burned',
  amount_c UInt64 COMMENT 'Routed to_lp; ProfitSwept to_holders',
  amount_d UInt64 COMMENT 'Routed to_bankroll',
  log_partition UInt32
) ENGINE = ReplacingMergeTree(has_index) ORDER BY (mint, slot, signature, position);

-- The same facts in slot order, for windows of time over all policies and the day series.
CREATE TABLE IF NOT EXISTS events_by_slot (
  slot UInt64, signature String, position UInt16, has_index UInt8, block_time Nullable(Int64),
  kind LowCardinality(String), actor LowCardinality(String), mint String, quote_mint String,
  amount_a UInt64, amount_b UInt64, amount_c UInt64, amount_d UInt64, log_partition UInt32,
  INDEX by_time block_time TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(has_index) ORDER BY (slot, signature, position);

CREATE MATERIALIZED VIEW IF NOT EXISTS events_to_slot_order TO events_by_slot AS
SELECT slot, signature, position, has_index, block_time, kind, actor, mint, quote_mint,
  amount_a, amount_b, amount_c, amount_d, log_partition
FROM events;

-- Whole readings of successful and failed transactions of the program.
CREATE TABLE IF NOT EXISTS transactions (
  signature String, slot UInt64, tx_index UInt32, has_index UInt8, block_time Nullable(Int64), failed UInt8
) ENGINE = ReplacingMergeTree(has_index) ORDER BY signature;

-- Successful transactions that have an event of a policy or hold it writable.
CREATE TABLE IF NOT EXISTS policy_transactions (
  policy String, slot UInt64, signature String, tx_index UInt32, has_index UInt8, block_time Nullable(Int64)
) ENGINE = ReplacingMergeTree(has_index) ORDER BY (policy, slot, signature);

-- Transactions whose logs were cut so that an event is missing. Resolved by a row of the same signature in transactions.
CREATE TABLE IF NOT EXISTS incomplete_transactions (
  signature String, slot UInt64, block_time Nullable(Int64), policies Array(String), reason String
) ENGINE = ReplacingMergeTree(slot) ORDER BY signature;

-- Rollups: recomputed from the facts of one log partition by its owner, versioned by the last offset of the batch;
-- a paused owner's late write has the lower offset and loses. Readers sum over partitions.
CREATE TABLE IF NOT EXISTS policy_totals (
  mint String, log_partition UInt32, log_offset UInt64,
  fees_quote UInt128, fees_base UInt128, claim_count UInt64, last_claim Nullable(Int64),
  routed UInt128, protocol_cut UInt128, routed_to_lp UInt128, routed_to_bankroll UInt128, last_routed Nullable(Int64),
  profit UInt128, profit_to_lp UInt128, profit_to_holders UInt128, last_swept Nullable(Int64),
  buyback_spent UInt128, buyback_burned UInt128, last_buyback Nullable(Int64),
  event_count UInt64
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (mint, log_partition);

CREATE TABLE IF NOT EXISTS quote_days (
  day Date, quote_mint String, log_partition UInt32, log_offset UInt64,
  routed_to_lp UInt128, routed_to_bankroll UInt128, protocol_cut UInt128, profit UInt128, buyback_spent UInt128,
  event_count UInt64, last_event Nullable(Int64)
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (day, quote_mint, log_partition);
