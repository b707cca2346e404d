-- Where the list of an open gap goes on, and what keeps it open; of the same offset as its row in gaps, written behind it.
CREATE TABLE IF NOT EXISTS gap_places (
  from_slot UInt64, log_partition UInt32, log_offset UInt64,
  before Nullable(String) COMMENT 'signature that the list goes on behind; null: from the newest',
  unread Nullable(String) COMMENT 'signature of a transaction that no node tells',
  first_slot Nullable(UInt64) COMMENT 'of the history that the node keeps, where the gap begins before it'
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (from_slot, log_partition);
