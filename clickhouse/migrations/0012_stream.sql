-- How the stream stands, as ingestion told it last; what is not told again expires. Version: milliseconds of its clock.
CREATE TABLE IF NOT EXISTS stream_state (
  id UInt8 DEFAULT 0, read_at UInt64, connected UInt8, since UInt64 COMMENT 'unix milliseconds', reason Nullable(String),
  addresses UInt32, over_rpc UInt32,
  lag_ms UInt64 COMMENT 'how old it was when it was written', written_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY id;
