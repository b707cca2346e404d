-- Transactions of which the stream told two things in one slot. The highest standing holds: 0 where which of them is so is
-- not known yet, 1 where the chain has neither, 2 where a reading of the chain decided.
CREATE TABLE IF NOT EXISTS disputed_transactions (
  slot UInt64, signature String, standing UInt8
) ENGINE = ReplacingMergeTree(standing) ORDER BY (slot, signature);
