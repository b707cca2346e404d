-- Events of slots whose block time no source told. A later reading may tell it: what counts is the row of the event.
CREATE TABLE IF NOT EXISTS undated_events (
  slot UInt64, signature String, position UInt16
) ENGINE = ReplacingMergeTree ORDER BY (slot, signature, position);

INSERT INTO undated_events
SELECT slot, signature, position FROM events_by_slot FINAL WHERE block_time IS NULL AND kind != ''
SETTINGS max_execution_time = 0;
