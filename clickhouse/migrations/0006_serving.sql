-- Which database answers are read from. Written in the database of CLICKHOUSE_URL alone; no row: that database itself.
CREATE TABLE IF NOT EXISTS serving (
  id UInt8 DEFAULT 0, version UInt64, database String, switched_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(version) ORDER BY id;

-- Databases that a replay of the whole log fills, in the database of CLICKHOUSE_URL: a run that was killed goes on with its own.
CREATE TABLE IF NOT EXISTS replays (
  database String, step UInt8 COMMENT '1 being filled, 2 given up, 3 served', at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(step) ORDER BY database;

-- The record of the log that a dead letter was found in.
CREATE TABLE IF NOT EXISTS dead_letter_sources (
  id String, topic LowCardinality(String), log_partition UInt32, log_offset UInt64
) ENGINE = ReplacingMergeTree(log_offset) ORDER BY id;

-- Dead letters that a better decoder has read. A letter that is found again later is dead again.
CREATE TABLE IF NOT EXISTS resolved_letters (
  id String, read_at Int64 COMMENT 'read_at of the letter'
) ENGINE = ReplacingMergeTree(read_at) ORDER BY id;
