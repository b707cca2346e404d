-- Policies and venue accounts that events name, so that who asks which of them nobody has read goes through no events.
-- A name is never taken back: whether an event that names it still stands, the events of its mint say.
CREATE TABLE IF NOT EXISTS named_accounts (
  policy String, token_account String COMMENT 'of the venue account; empty: the policy itself', mint String
) ENGINE = ReplacingMergeTree ORDER BY (policy, token_account, mint);

-- What is there already. Materialisers of an older version know nothing of it: they are stopped before this runs.
INSERT INTO named_accounts
SELECT DISTINCT policy, '' AS token_account, mint FROM events WHERE policy != ''
SETTINGS max_execution_time = 0;

INSERT INTO named_accounts
SELECT DISTINCT policy, JSONExtractString(summary, 'tokenAccount') AS token_account, mint FROM events WHERE kind = 'VenueRegistered'
SETTINGS max_execution_time = 0;
