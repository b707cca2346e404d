-- The agent was rotated while the session was live: its next use says so and deletes it, also if the old key returns.
ALTER TABLE sessions ADD COLUMN rotated_out boolean NOT NULL DEFAULT false;
CREATE INDEX sessions_of_policy ON sessions (mint, agent);
