-- Told over readings, that lists are whole says nothing of the accounts of a list, which another topic brings: they are here
-- once the index has come to this slot. Another database is given the same log, and reads it from its beginning.
ALTER TABLE stream_state ADD COLUMN IF NOT EXISTS listed_slot Nullable(UInt64) COMMENT 'null: not told';
