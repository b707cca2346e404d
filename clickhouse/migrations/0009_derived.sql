-- Events that were derived from a transaction whose logs were cut, at positions from 32768 on. A whole reading of the
-- transaction takes them back: a row without a kind, of has_index 2, replaces each in the tables of events.
CREATE TABLE IF NOT EXISTS derived_events (
  slot UInt64, signature String, position UInt16, policy String, mint String, quote_mint String,
  block_time Nullable(Int64), log_partition UInt32, taken_back UInt8
) ENGINE = ReplacingMergeTree(taken_back) ORDER BY (slot, signature, position);

-- What is missing of an incomplete transaction: kinds of events, amounts as <kind>.<amount>, 'any', or 'undecoded' where
-- an event came that does not decode. Nothing: all of it was derived.
ALTER TABLE incomplete_transactions ADD COLUMN IF NOT EXISTS missing Array(LowCardinality(String)) DEFAULT ['any'];
