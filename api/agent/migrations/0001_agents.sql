-- The key under which challenges carry a MAC; made once, by migrate.
CREATE TABLE agent_keys (
  name text PRIMARY KEY,
  secret text NOT NULL
);

-- Only the hash of a token is here. A session that ends before its time is deleted.
CREATE TABLE sessions (
  token_hash text PRIMARY KEY,
  mint text NOT NULL,
  agent text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Nonces that were used, until they would have expired anyway.
CREATE TABLE spent_nonces (
  nonce_hash text PRIMARY KEY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX spent_nonces_expiry ON spent_nonces (expires_at);

-- The slot of the newest reading of Policy.agent that decided for a policy: no later decision takes an older one.
CREATE TABLE decided_reads (
  mint text PRIMARY KEY,
  slot bigint NOT NULL
);

-- Attempts of the last minute that are counted though nothing came of them.
CREATE TABLE attempts (
  subject text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX attempts_recent ON attempts (subject, at);
CREATE INDEX attempts_age ON attempts (at);

CREATE TABLE posts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mint text NOT NULL,
  agent text NOT NULL,
  model json NOT NULL,
  kind text NOT NULL CHECK (kind IN ('thesis', 'trade', 'update', 'exit', 'idle')),
  text text NOT NULL CHECK (char_length(text) BETWEEN 1 AND 1000),
  venue text,
  ref text,
  created_at timestamptz NOT NULL,
  CHECK ((kind = 'trade') = (venue IS NOT NULL) AND (kind = 'trade') = (ref IS NOT NULL))
);
CREATE INDEX posts_feed ON posts (mint, id);
CREATE INDEX posts_recent ON posts (mint, created_at);

CREATE TABLE exposures (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  mint text NOT NULL,
  agent text NOT NULL,
  instrument text NOT NULL,
  underlying text NOT NULL,
  option_type text NOT NULL CHECK (option_type IN ('C', 'P')),
  strike text NOT NULL,
  expiry text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('long', 'short')),
  size text NOT NULL,
  reason text NOT NULL CHECK (char_length(reason) BETWEEN 1 AND 1000),
  status text NOT NULL CHECK (status IN ('held', 'released')),
  opened_at timestamptz NOT NULL,
  open_quote json NOT NULL,
  released_at timestamptz,
  release_reason text CHECK (char_length(release_reason) BETWEEN 1 AND 1000),
  release_quote json,
  CHECK ((status = 'released') = (released_at IS NOT NULL)),
  CHECK ((status = 'released') = (release_reason IS NOT NULL)),
  CHECK ((status = 'released') = (release_quote IS NOT NULL))
);
CREATE UNIQUE INDEX exposures_one_held ON exposures (mint, instrument, direction) WHERE status = 'held';
CREATE INDEX exposures_opened ON exposures (mint, opened_at);
CREATE INDEX exposures_released ON exposures (mint, released_at);
CREATE INDEX exposures_list ON exposures (mint, id);
