import type { Queries } from './port.ts';

/** Rows that were deleted or replaced, and take room in the table and its indexes until somebody looks for them. */
const DEAD_ROWS = 500;
/** Of the write-ahead log, which a checkpoint takes from the start again. */
const LOG_BYTES = 32 * 1024 * 1024;

/**
 * What the processes beside a server do and the embedded engine has nobody for: without it each row that was ever deleted
 * keeps its room, and each write its place in the log, as long as the process runs.
 */
export async function tidy(db: Queries): Promise<void> {
  // Else what was done within the last second is not counted yet.
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
