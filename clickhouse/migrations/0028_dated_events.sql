-- Events of undated_events whose time was told since, written behind the sums of their days. Until then a day may have
-- them neither by their time nor by their neighbours.
CREATE TABLE IF NOT EXISTS dated_events (
  slot UInt64, signature String, position UInt16
) ENGINE = ReplacingMergeTree ORDER BY (slot, signature, position);

INSERT INTO dated_events
SELECT slot, signature, position FROM undated_events
WHERE (slot, signature, position) IN (SELECT slot, signature, position FROM events_by_slot FINAL WHERE block_time IS NOT NULL)
SETTINGS max_execution_time = 0;
