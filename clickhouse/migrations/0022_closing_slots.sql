-- Of a closing row without a time, the slot in which its state was written, or seen first: the time of that slot is that
-- of every hour in which the state was read again.
ALTER TABLE account_hours ADD COLUMN IF NOT EXISTS slot Nullable(UInt64) COMMENT 'of the state, where its block_time is to be told yet; null otherwise, or not known';
