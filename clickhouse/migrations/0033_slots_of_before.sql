-- Of what was before hours were kept nobody knows which slots the stream brought: a store that was filled by then has no
-- hole there, and an old state that is written late would stand for every hour since.
INSERT INTO stream_holes
SELECT last AS to_slot, 0 AS after_slot
FROM (
  SELECT if(
    (SELECT count() FROM hour_slots) = 0,
    toInt64((SELECT max(slot) FROM applied)),
    toInt64((SELECT min(slot) FROM hour_slots)) - 1
  ) AS last
)
WHERE last > 0 AND (SELECT count() FROM stream_holes WHERE after_slot = 0) = 0
SETTINGS max_execution_time = 0;
