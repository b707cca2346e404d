-- Latest readings of the outside world. Version: milliseconds of our clock when the reply arrived.
CREATE TABLE IF NOT EXISTS venue_readings (
  token_account String, read_at UInt64, venue LowCardinality(String), reachable UInt8, error Nullable(String),
  equity Nullable(String), notional Nullable(String), reason Nullable(String), venue_time Nullable(Int64)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY token_account;

CREATE TABLE IF NOT EXISTS venue_status (
  venue LowCardinality(String), ok UInt8, read_at UInt64, error Nullable(String)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY (venue, ok);

CREATE TABLE IF NOT EXISTS program_status (
  program LowCardinality(String), read_at UInt64, address String, exists UInt8, error Nullable(String)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY program;

-- Each poll of the catalogue is one row, so that a pair that left it is gone.
CREATE TABLE IF NOT EXISTS catalogue (
  id UInt8 DEFAULT 0, read_at UInt64,
  rows Array(Tuple(mint String, symbol String, name String, decimals UInt8, category String, launchable UInt8, launchpad_ready UInt8, logo_url Nullable(String)))
) ENGINE = ReplacingMergeTree(read_at) ORDER BY id;

CREATE TABLE IF NOT EXISTS prices (
  mint String, source LowCardinality(String), read_at UInt64, usd Nullable(String), observed_at Nullable(String),
  start_market_cap_usd Nullable(Float64), graduation_market_cap_usd Nullable(Float64), graduation_multiple Nullable(Float64)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY (mint, source);

CREATE TABLE IF NOT EXISTS metadata_documents (
  mint String, read_at UInt64, uri String, image_url Nullable(String), error Nullable(String)
) ENGINE = ReplacingMergeTree(read_at) ORDER BY mint;

CREATE TABLE IF NOT EXISTS currencies (
  id UInt8 DEFAULT 0, read_at UInt64,
  rows Array(Tuple(currency String, spot_price Nullable(String), has_options UInt8, has_perps UInt8))
) ENGINE = ReplacingMergeTree(read_at) ORDER BY id;
