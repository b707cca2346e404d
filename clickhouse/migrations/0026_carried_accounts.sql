-- Whether a stream brings every state of an account in slots behind this one, each time that it was told; of an account
-- without a row it does. Slots between two of them are those of which nothing but readings over RPC is known.
CREATE TABLE IF NOT EXISTS carried_accounts (
  address String, slot UInt64, carried UInt8
) ENGINE = ReplacingMergeTree ORDER BY (address, slot, carried);

-- How many rows of a slot were ever written there, by whomever: it never falls, and rises with each write.
CREATE TABLE IF NOT EXISTS carried_writes (
  slot UInt64, written UInt64
) ENGINE = SummingMergeTree(written) ORDER BY slot;

CREATE MATERIALIZED VIEW IF NOT EXISTS carried_accounts_to_writes TO carried_writes AS
SELECT slot, toUInt64(1) AS written
FROM carried_accounts;
