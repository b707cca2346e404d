-- Where the venue accounts of a policy are. A closed account has no policy any more: what it says stands in its table.
CREATE TABLE IF NOT EXISTS venue_accounts_by_policy (
  policy String, address String
) ENGINE = ReplacingMergeTree ORDER BY (policy, address);

CREATE MATERIALIZED VIEW IF NOT EXISTS venue_accounts_to_policies TO venue_accounts_by_policy AS
SELECT policy, address
FROM venue_accounts;

INSERT INTO venue_accounts_by_policy
SELECT policy, address FROM venue_accounts;
