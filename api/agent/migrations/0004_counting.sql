-- What is asked for each challenge of a stranger is one question. Each statement in these sees what was written before it.

-- Makes everybody else who takes this turn wait until the transaction ends; the time from then on.
CREATE FUNCTION take_turn(of_subject text) RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(of_subject, 0));
  RETURN clock_timestamp();
END
$$;

-- Counts an attempt: null. Where `most` are less than a minute old it is not counted: the seconds until one more can be.
CREATE FUNCTION count_attempt(of_subject text, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  begun timestamptz := take_turn(of_subject);
  wait integer;
BEGIN
  SELECT ceil(extract(epoch FROM at + interval '60 seconds' - begun))::int INTO wait
  FROM attempts WHERE subject = of_subject AND at > begun - interval '60 seconds'
  ORDER BY at DESC OFFSET most - 1 LIMIT 1;
  IF wait IS NULL THEN
    INSERT INTO attempts (subject, at) VALUES (of_subject, begun);
  END IF;
  RETURN wait;
END
$$;
