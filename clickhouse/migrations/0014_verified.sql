-- Up to which slot what is stored was compared with the chain, as far as each partition has applied what came of it.
CREATE TABLE IF NOT EXISTS verified (
  log_partition UInt32, log_offset UInt64, slot UInt64
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY log_partition;
