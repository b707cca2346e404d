import { hidden } from '../../runtime/config/secrets.ts';
import { ConfigError, messageOf, RetryableError } from '../../runtime/errors.ts';
import { NotReadyError } from '../../runtime/process/readiness.ts';
import type { Queries } from './port.ts';

export interface SchemaProbe {
  /** Throws where the database does not answer, and says what it lacks. */
  probe(): Promise<void>;
  /** Rejects once it turns out to be newer than this version. */
  refused: Promise<never>;
}

/**
 * Makes sure that a database is of this version until it is: from then on a process goes on with it, also while a newer
 * version changes it.
 * @param makeSure brings it to the current schema, or throws where it is of another; null where this process has done so.
 */
export function createSchemaProbe(db: Queries, makeSure: (() => Promise<unknown>) | null): SchemaProbe {
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => undefined);
  let isSure = makeSure === null;
  let looking: Promise<void> | null = null;
  const look = async () => {
    try {
      await makeSure?.();
      isSure = true;
    } catch (error) {
      if (error instanceof ConfigError) refused.reject(error);
      if (error instanceof RetryableError) throw new NotReadyError(hidden(messageOf(error)));
      throw error;
    }
  };
  return {
    probe: async () => {
      if (isSure) return void (await db.query('SELECT 1'));
      // Those who ask while somebody else still migrates it wait on one connection.
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
    },
    refused: refused.promise,
  };
}
