-- How many partitions the log's topics have. Until each has a row in `applied`, no slot is whole.
CREATE TABLE IF NOT EXISTS log_partitions (
  topic LowCardinality(String), partitions UInt32
) ENGINE = ReplacingMergeTree(partitions) ORDER BY topic;
