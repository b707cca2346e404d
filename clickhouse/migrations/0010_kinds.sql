-- Events of each kind in a run of 512 slots, with the times of the first and the last: a window of time is their sums
-- and the facts of the runs that its ends cut, and tells the slot before which none of its events lies.
CREATE TABLE IF NOT EXISTS kind_spans (
  span UInt64 COMMENT 'slot divided by 512', kind LowCardinality(String), actor LowCardinality(String),
  log_partition UInt32, log_offset UInt64,
  event_count UInt64 COMMENT 'whose block time is known', first_event Nullable(Int64), last_event Nullable(Int64),
  INDEX by_time last_event TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY (span, kind, actor, log_partition)
SETTINGS index_granularity = 512;

-- What is there already. Materialisers of an older version know nothing of it: they are stopped before this runs.
INSERT INTO kind_spans
SELECT intDiv(slot, 512) AS span, kind, actor, log_partition, 0, countIf(block_time IS NOT NULL), min(block_time), max(block_time)
FROM events_by_slot FINAL WHERE kind != '' GROUP BY span, kind, actor, log_partition
SETTINGS max_execution_time = 0;
