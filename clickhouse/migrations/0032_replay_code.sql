-- What the code was that began to fill a database: another one reads the log differently, and does not go on with it.
-- Empty: not known.
ALTER TABLE replays ADD COLUMN IF NOT EXISTS code String DEFAULT '' COMMENT 'hash of its files';
