-- Closing states of which it is not known in which hour they were: their rows of account_hours come once the time of the
-- slot is told.
CREATE TABLE IF NOT EXISTS undated_hours (
  address String, slot UInt64, version UInt128, state String COMMENT 'its row of account_hours without hour and time, JSON'
) ENGINE = ReplacingMergeTree(version) ORDER BY (address, slot);
