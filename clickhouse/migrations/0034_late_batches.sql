-- How often events came in too far behind what was applied for who looks at the newest slots to find them.
ALTER TABLE applied ADD COLUMN IF NOT EXISTS late_batches Nullable(UInt32) COMMENT 'that brought such events, outside of gaps; null: none was counted yet';
