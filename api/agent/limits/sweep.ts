import { messageOf } from '../../../runtime/errors.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { Db } from '../../postgres/port.ts';
import { deletedHour } from '../session/nonce.ts';

const EVERY_MS = 60_000;

/**
 * Deletes what is over, by the database's clock: expired sessions, spent nonces a day after they expired, attempts
 * older than two minutes; and sessions and attempts more than a minute ahead, which would live, or count, until a clock
 * that was set back gets there again.
 */
export async function sweep(db: Db): Promise<void> {
  await db.query(
    `DELETE FROM sessions WHERE expires_at <= now() OR created_at > now() + interval '1 minute'`,
  );
  // A clock that is set back by less than a day, as by a wrong time zone, blocks no challenge issued after that.
  await db.query(
    `WITH gone AS (
       DELETE FROM spent_nonces WHERE expires_at <= now() - interval '1 day' AND nonce_hash NOT LIKE 'hour %'
       RETURNING expires_at)
     INSERT INTO spent_nonces AS kept (nonce_hash, expires_at)
     SELECT ${deletedHour('expires_at')}, max(expires_at) FROM gone GROUP BY 1
     ON CONFLICT (nonce_hash) DO UPDATE SET expires_at = greatest(kept.expires_at, excluded.expires_at)`,
  );
  await db.query(
    `DELETE FROM attempts WHERE at < now() - interval '2 minutes' OR at > now() + interval '1 minute'`,
  );
  await db.tidy?.();
}

/** Sweeps every minute until the signal is given. */
export async function runSweep(db: Db, logger: Logger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(EVERY_MS, signal);
    if (signal.aborted) return;
    await sweep(db).catch((error: unknown) =>
      logger.warn({ reason: messageOf(error) }, 'what has expired could not be swept; trying again'),
    );
  }
}
