-- When the newest record that a partition has applied was appended to the log. What stands at those offsets and is newer
-- was written over an end that the log has lost. Null: not known, or of a log that ends with its process.
ALTER TABLE applied ADD COLUMN IF NOT EXISTS written_at Nullable(Int64) COMMENT 'unix milliseconds of the log';
