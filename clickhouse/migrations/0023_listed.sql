-- Whether a node lists the program's accounts; where none does, those are known that were written since, and those that
-- history names.
ALTER TABLE stream_state ADD COLUMN IF NOT EXISTS listed Nullable(UInt8) COMMENT 'null: not told';
