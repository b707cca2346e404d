import type { Queries } from './port.ts';

/**
 * More rows than this that were deleted or replaced, and still take room in the table and its indexes, are vacuumed.
 */
const DEAD_ROWS = 500;
/** More write-ahead log than this calls for a checkpoint, after which its files are used again. */
const LOG_BYTES = 32 * 1024 * 1024;

/**
 * Does what a server's background processes do, and the embedded engine has none for: without it each row that was ever
 * deleted keeps its room, and each write its place in the log, as long as the process runs.
 */
export async function tidy(db: Queries): Promise<void> {
  // Otherwise the statistics would not have the changes of the last second yet.
  await db.query('SELECT pg_stat_force_next_flush()');
  const tables = await db.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_stat_user_tables WHERE n_dead_tup > ${DEAD_ROWS}`,
  );
  for (const { name } of tables) await db.query(`VACUUM ${name}`);
  const [log] = await db.query<{ written: string }>(
    'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::text AS written FROM pg_control_checkpoint()',
  );
  if (Number(log?.written) > LOG_BYTES) await db.query('CHECKPOINT');
}
