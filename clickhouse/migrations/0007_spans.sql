-- Sums over a run of slots, so that a batch works out again what it touched and never a whole history. Of a policy:
-- spans of three widths, the narrowest from the facts, each wider one from the one before, policy_totals from the widest.
CREATE TABLE IF NOT EXISTS policy_spans (
  mint String, width UInt32 COMMENT 'slots', span UInt64 COMMENT 'slot divided by width', log_partition UInt32, log_offset UInt64,
  fees_quote UInt128, fees_base UInt128, claim_count UInt64, last_claim Nullable(Int64),
  routed UInt128, protocol_cut UInt128, routed_to_lp UInt128, routed_to_bankroll UInt128, last_routed Nullable(Int64),
  profit UInt128, profit_to_lp UInt128, profit_to_holders UInt128, last_swept Nullable(Int64),
  buyback_spent UInt128, buyback_burned UInt128, last_buyback Nullable(Int64),
  event_count UInt64
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (mint, width, span, log_partition)
SETTINGS index_granularity = 512;

-- Of a quote asset: the narrowest spans, cut at midnight; quote_days are their sums.
CREATE TABLE IF NOT EXISTS quote_spans (
  day Date, span UInt64, quote_mint String, log_partition UInt32, log_offset UInt64,
  routed_to_lp UInt128, routed_to_bankroll UInt128, protocol_cut UInt128, profit UInt128, buyback_spent UInt128,
  event_count UInt64, last_event Nullable(Int64),
  INDEX by_span span TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (day, span, quote_mint, log_partition);

-- What is there already. Materialisers of an older version know nothing of spans: they are stopped before this runs.
INSERT INTO policy_spans
SELECT mint, 512, intDiv(slot, 512) AS span, log_partition, 0,
  sumIf(toUInt128(amount_a), kind = 'FeesClaimed'), sumIf(toUInt128(amount_b), kind = 'FeesClaimed'),
  countIf(kind = 'FeesClaimed'), maxOrNullIf(block_time, kind = 'FeesClaimed'),
  sumIf(toUInt128(amount_a), kind = 'Routed'), sumIf(toUInt128(amount_b), kind = 'Routed'),
  sumIf(toUInt128(amount_c), kind = 'Routed'), sumIf(toUInt128(amount_d), kind = 'Routed'),
  maxOrNullIf(block_time, kind = 'Routed'),
  sumIf(toUInt128(amount_a), kind = 'ProfitSwept'), sumIf(toUInt128(amount_b), kind = 'ProfitSwept'),
  sumIf(toUInt128(amount_c), kind = 'ProfitSwept'), maxOrNullIf(block_time, kind = 'ProfitSwept'),
  sumIf(toUInt128(amount_a), kind = 'BuybackBurned'), sumIf(toUInt128(amount_b), kind = 'BuybackBurned'),
  maxOrNullIf(block_time, kind = 'BuybackBurned'), count()
FROM events_by_slot FINAL WHERE mint != '' GROUP BY mint, span, log_partition
SETTINGS max_execution_time = 0;

INSERT INTO policy_spans
SELECT s.mint, 32768, intDiv(s.span, 64) AS wide, s.log_partition, 0,
  sum(s.fees_quote), sum(s.fees_base), sum(s.claim_count), max(s.last_claim),
  sum(s.routed), sum(s.protocol_cut), sum(s.routed_to_lp), sum(s.routed_to_bankroll), max(s.last_routed),
  sum(s.profit), sum(s.profit_to_lp), sum(s.profit_to_holders), max(s.last_swept),
  sum(s.buyback_spent), sum(s.buyback_burned), max(s.last_buyback), sum(s.event_count)
FROM policy_spans AS s FINAL WHERE s.width = 512 GROUP BY s.mint, wide, s.log_partition
SETTINGS max_execution_time = 0;

INSERT INTO policy_spans
SELECT s.mint, 2097152, intDiv(s.span, 64) AS wide, s.log_partition, 0,
  sum(s.fees_quote), sum(s.fees_base), sum(s.claim_count), max(s.last_claim),
  sum(s.routed), sum(s.protocol_cut), sum(s.routed_to_lp), sum(s.routed_to_bankroll), max(s.last_routed),
  sum(s.profit), sum(s.profit_to_lp), sum(s.profit_to_holders), max(s.last_swept),
  sum(s.buyback_spent), sum(s.buyback_burned), max(s.last_buyback), sum(s.event_count)
FROM policy_spans AS s FINAL WHERE s.width = 32768 GROUP BY s.mint, wide, s.log_partition
SETTINGS max_execution_time = 0;

INSERT INTO quote_spans
SELECT toDate(fromUnixTimestamp64Second(assumeNotNull(block_time), 'UTC')) AS day, intDiv(slot, 512) AS span,
  quote_mint, log_partition, 0,
  sumIf(toUInt128(amount_c), kind = 'Routed'), sumIf(toUInt128(amount_d), kind = 'Routed'),
  sumIf(toUInt128(amount_b), kind = 'Routed'), sumIf(toUInt128(amount_a), kind = 'ProfitSwept'),
  sumIf(toUInt128(amount_a), kind = 'BuybackBurned'), count(), max(block_time)
FROM events_by_slot FINAL WHERE block_time IS NOT NULL GROUP BY day, span, quote_mint, log_partition
SETTINGS max_execution_time = 0;
