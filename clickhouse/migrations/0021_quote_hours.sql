-- How many rows were ever written to an hour of account_hours, by whomever: it never falls, and rises with each write.
CREATE TABLE IF NOT EXISTS hour_writes (
  hour UInt32, written UInt64
) ENGINE = SummingMergeTree(written) ORDER BY hour;

CREATE MATERIALIZED VIEW IF NOT EXISTS account_hours_to_writes TO hour_writes AS
SELECT hour, toUInt64(1) AS written
FROM account_hours;

-- What the policies of each quote asset sum up to at the beginning of an hour. It holds as long as what it was made of is
-- the same: who reads it works that out again.
CREATE TABLE IF NOT EXISTS quote_hours (
  hour UInt32 COMMENT 'that begins there, since 1970', made_of String, sums String COMMENT 'one of each quote asset, JSON',
  written_at UInt64 COMMENT 'unix milliseconds'
) ENGINE = ReplacingMergeTree(written_at) ORDER BY hour;
