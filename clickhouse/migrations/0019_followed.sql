-- Up to which slot the states of followed addresses are applied too, and its time. Null: as everything else.
ALTER TABLE applied ADD COLUMN IF NOT EXISTS followed Nullable(UInt64) COMMENT 'slot; null: slot and block_time hold for them too', ADD COLUMN IF NOT EXISTS followed_time Nullable(Int64) COMMENT 'block time of followed';
