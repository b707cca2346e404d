-- The newest rows of a mint, or of a policy, stand in the newest parts: without it a granule of each part is read to find
-- that there are none. Parts of before get theirs in the background.
ALTER TABLE events ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1;
ALTER TABLE events MATERIALIZE INDEX by_slot;
ALTER TABLE policy_transactions ADD INDEX IF NOT EXISTS by_slot slot TYPE minmax GRANULARITY 1;
ALTER TABLE policy_transactions MATERIALIZE INDEX by_slot;
