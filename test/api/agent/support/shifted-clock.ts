import { migratePostgres } from '../../../../api/postgres/migrate.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { freshPostgresUrl } from '../../../support/servers-of-run.ts';
import { patientPool } from './patient-db.ts';

export interface ShiftedClock {
  db: Db;
  /** Sets the clock of the database; an interval of Postgres, from the right time. */
  shift(by: string): Promise<void>;
}

/** A migrated database whose clock the test sets: its own functions stand before those of Postgres. */
export async function shiftedClock(): Promise<ShiftedClock> {
  const url = await freshPostgresUrl();
  const first = patientPool(url);
  await migratePostgres(first);
  await first.query('CREATE TABLE shifted AS SELECT interval $$0$$ AS by');
  for (const [name, kind] of [
    ['now', 'STABLE'],
    ['clock_timestamp', 'VOLATILE'],
  ])
    await first.query(
      `CREATE FUNCTION ${name}() RETURNS timestamptz LANGUAGE sql ${kind} AS
       'SELECT pg_catalog.${name}() + by FROM public.shifted'`,
    );
  await first.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = public, pg_catalog`);
  await first.close();
  const db = patientPool(url);
  return {
    db,
    shift: async (by) => void (await db.query('UPDATE shifted SET by = $1::text::interval', [by])),
  };
}
