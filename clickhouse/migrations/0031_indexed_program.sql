-- The program that this database is filled of. Written by who first opens it to write; no row: nobody has since this table is.
CREATE TABLE IF NOT EXISTS indexed_program (
  program String, declared_at DateTime64(3) DEFAULT now64(3)
) ENGINE = ReplacingMergeTree(declared_at) ORDER BY program;
