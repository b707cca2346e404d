-- How far each partition of the log is applied; written after the rows of its batch.
CREATE TABLE IF NOT EXISTS applied (
  topic LowCardinality(String), log_partition UInt32, log_offset UInt64,
  slot UInt64, block_time Nullable(Int64) COMMENT 'of the last marker applied; 0 and null before the first',
  last_signature Nullable(String), last_signature_slot UInt64, last_signature_index UInt32,
  applied_at Int64 COMMENT 'unix milliseconds of the materialiser'
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (topic, log_partition);

-- Intervals of slots whose transactions are still to be read. Closed once every partition says so.
CREATE TABLE IF NOT EXISTS gaps (
  from_slot UInt64, log_partition UInt32, log_offset UInt64, to_slot UInt64, to_time Nullable(Int64), closed UInt8
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (from_slot, log_partition);

CREATE TABLE IF NOT EXISTS dead_letters (
  id String COMMENT 'sha256 of what, where, slot and bytes', what LowCardinality(String), at String COMMENT 'address, signature or mint',
  reason String, source LowCardinality(String), slot Nullable(UInt64), byte_length UInt64, bytes String COMMENT 'base64; empty over 900 kB',
  read_at Int64
) ENGINE = ReplacingMergeTree(read_at) ORDER BY id;
