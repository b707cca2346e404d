-- A token account is listed by whoever likes, each at an account of his own at the venue: what was read there is of the
-- venue account. venue_readings, by token account, is read by nobody from here on; what runs during an upgrade writes it.
CREATE TABLE IF NOT EXISTS account_readings (
  venue_account String, read_at UInt64, venue LowCardinality(String), reachable UInt8, error Nullable(String),
  equity Nullable(String), notional Nullable(String), reason Nullable(String), venue_time Nullable(Int64)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY venue_account;
