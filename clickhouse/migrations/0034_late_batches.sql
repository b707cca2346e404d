-- How often events came in too far behind what was applied for who looks at the newest slots to find them.
ALTER TABLE applied ADD COLUMN IF NOT EXISTS late_batches UInt32 DEFAULT 0 COMMENT 'that brought such events, outside of gaps';
