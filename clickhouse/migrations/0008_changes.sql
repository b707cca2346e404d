-- What each writer has changed, for readers that keep rows: written behind the rows themselves, before what makes sums
-- present again. A writer counts from 1 without holes; who is behind what is still here begins anew.
CREATE TABLE IF NOT EXISTS changes (
  writer String, seq UInt64, keys String COMMENT 'JSON: keys of rows by table, * for any', at DateTime DEFAULT now()
) ENGINE = MergeTree ORDER BY (writer, seq) TTL at + INTERVAL 1 HOUR;
