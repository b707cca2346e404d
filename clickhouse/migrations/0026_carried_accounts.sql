-- Whether a stream brings every state of an account in slots behind this one, each time that it was told; of an account
-- without a row it does. Slots between two of them are those of which nothing but readings over RPC is known.
CREATE TABLE IF NOT EXISTS carried_accounts (
  address String, slot UInt64, carried UInt8
) ENGINE = ReplacingMergeTree ORDER BY (address, slot, carried);
