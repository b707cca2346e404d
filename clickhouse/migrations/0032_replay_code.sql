-- What the code was that began to fill a database: another one reads the log differently, and does not go on with it.
ALTER TABLE replays ADD COLUMN IF NOT EXISTS code Nullable(String) COMMENT 'hash of its files; null: not known';
