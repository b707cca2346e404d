-- A view is a part more for each insert. Where the venue accounts of a policy are never changes: materialise writes it once.
-- Materialisers of an older version leave it to the view: they are stopped before this runs.
DROP VIEW IF EXISTS venue_accounts_to_policies;

-- Sums are kept of hours that every partition has passed: materialise counts what it writes to those, behind the rows.
DROP VIEW IF EXISTS account_hours_to_writes;
