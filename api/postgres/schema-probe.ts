import { hidden } from '../../runtime/config/secrets.ts';
import { ConfigError, messageOf, RetryableError } from '../../runtime/errors.ts';
import { NotReadyError } from '../../runtime/process/readiness.ts';
import { mustBeCurrent } from './migrate.ts';
import type { Queries } from './port.ts';

export interface SchemaProbe {
  /** Throws where the database does not answer, and says what it lacks. */
  probe(): Promise<void>;
  /** Rejects once it turns out to be newer than this version. */
  refused: Promise<never>;
}

/**
 * Asks whether a database is of this version until it is: from then on a process goes on with it, also while a newer
 * version changes it.
 * @param isCurrent that this process has brought it to the current schema itself.
 */
export function createSchemaProbe(db: Queries, isCurrent: boolean): SchemaProbe {
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => undefined);
  let wasCurrent = isCurrent;
  const look = async () => {
    try {
      await mustBeCurrent(db);
      wasCurrent = true;
    } catch (error) {
      if (error instanceof ConfigError) refused.reject(error);
      if (error instanceof RetryableError) throw new NotReadyError(hidden(messageOf(error)));
      throw error;
    }
  };
  return {
    probe: async () => {
      if (wasCurrent) await db.query('SELECT 1');
      else await look();
    },
    refused: refused.promise,
  };
}
