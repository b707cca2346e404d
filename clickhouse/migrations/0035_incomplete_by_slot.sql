-- A transaction that was told in two slots lacks in each what it lacks there: one of the slots died, and which may be the
-- higher. incomplete_transactions, which is written, keeps the higher one alone; this one is read. On a cluster both are
-- sharded by the signature: what the view brings and what is copied here are versions of one row. What a merge has left out
-- before is known to a replay alone.
CREATE TABLE IF NOT EXISTS incomplete_by_slot (
  slot UInt64, signature String, block_time Nullable(Int64), policies Array(String), reason String,
  missing Array(LowCardinality(String)) DEFAULT ['any'] COMMENT 'kinds of events, amounts as <kind>.<amount>, any, undecoded, unreadable; nothing: all of it was derived'
) ENGINE = ReplacingMergeTree ORDER BY (signature, slot);

CREATE MATERIALIZED VIEW IF NOT EXISTS incomplete_to_slots TO incomplete_by_slot AS
SELECT slot, signature, block_time, policies, reason, missing FROM incomplete_transactions;

-- What is there already.
INSERT INTO incomplete_by_slot
SELECT slot, signature, block_time, policies, reason, missing FROM incomplete_transactions FINAL
SETTINGS max_execution_time = 0;
