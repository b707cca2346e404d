-- The slot of the reading that a session was started by: a change of the agent behind it ends the session. Of sessions
-- from before, and of those that a process of an older version starts meanwhile, it is not known: any change ends them.
ALTER TABLE sessions ADD COLUMN slot bigint NOT NULL DEFAULT 0;
