-- The newest rows of a mint, or of a policy, stand in the newest parts: without it a granule of each part is read to find
-- that there are none. Every replica has the index before one of them is told to make it of the parts of before, which
-- nobody waits for.
ALTER TABLE events ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1 SETTINGS alter_sync = 2;
ALTER TABLE events MATERIALIZE INDEX by_slot SETTINGS mutations_sync = 0;
ALTER TABLE policy_transactions ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1 SETTINGS alter_sync = 2;
ALTER TABLE policy_transactions MATERIALIZE INDEX by_slot SETTINGS mutations_sync = 0;
