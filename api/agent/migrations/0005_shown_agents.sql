-- Whom the reading that decided showed, '' where nobody may write, and the slot of the newest one that showed the same: a
-- stranger's, which decides nothing. Of rows from before, and of those that a process of an older version adds meanwhile,
-- neither is known: the next reading decides. A row that it changes keeps both as they were, beside its newer slot.
ALTER TABLE decided_reads ADD COLUMN agent text, ADD COLUMN shown bigint NOT NULL DEFAULT 0;
