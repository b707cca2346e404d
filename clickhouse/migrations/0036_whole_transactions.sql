-- Whole readings in the order of slots, each slot by itself: who asks for a few of them goes through few others. Of one
-- signature that was read in two slots `transactions` keeps one.
CREATE TABLE IF NOT EXISTS whole_transactions (
  slot UInt64, signature String
) ENGINE = ReplacingMergeTree PRIMARY KEY slot ORDER BY (slot, signature) SETTINGS index_granularity = 256;

CREATE MATERIALIZED VIEW IF NOT EXISTS transactions_to_whole TO whole_transactions AS
SELECT slot, signature
FROM transactions;

-- Behind the view: what comes meanwhile is there twice, and merges.
INSERT INTO whole_transactions
SELECT slot, signature FROM transactions
SETTINGS max_execution_time = 0;
