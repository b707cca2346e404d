-- The first slot in which a policy was seen with this mark and this much swept. A sweep raises the sum of both by its
-- profit, and nothing else changes either.
CREATE TABLE IF NOT EXISTS policy_marks (
  policy String, hwm UInt64, profit_swept UInt64, slot UInt64, before UInt64 COMMENT '2^64 - 1 - slot: the lowest slot stands'
) ENGINE = ReplacingMergeTree(before) ORDER BY (policy, hwm, profit_swept);

-- What a transaction with cut logs swept of a policy's profit, as its states told. In the table of events a row that was
-- made with it has a has_index of 3 or 4.
CREATE TABLE IF NOT EXISTS swept_profits (
  signature String, policy String, profit UInt64
) ENGINE = ReplacingMergeTree ORDER BY (signature, policy);
