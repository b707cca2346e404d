ALTER TABLE unseen_changes ADD COLUMN IF NOT EXISTS state Nullable(String) COMMENT 'what was read in to_slot: a hash of what hours keep of it; null where that was not told';

-- States that the stream brought behind the reading that found a change, and that say what this one said: from the state
-- on the account was as it was read.
CREATE TABLE IF NOT EXISTS brought_changes (
  address String, to_slot UInt64 COMMENT 'of the reading', slot UInt64 COMMENT 'of the state'
) ENGINE = ReplacingMergeTree ORDER BY (address, to_slot, slot);
