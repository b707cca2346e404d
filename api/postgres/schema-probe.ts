import { redacted } from '../../runtime/config/secrets.ts';
import { ConfigError, messageOf, RetryableError } from '../../runtime/errors.ts';
import { NotReadyError } from '../../runtime/process/readiness.ts';
import type { Queries } from './port.ts';

export interface SchemaProbe {
  /** Throws where the database does not answer, or lacks migrations, which the error names. */
  probe(): Promise<void>;
  /** Rejects once the database turns out to be unusable for this version: newer than it, say. */
  refused: Promise<never>;
}

/**
 * Checks that a database has the schema of this version until it once has. From then on the process goes on with it,
 * also while a newer version migrates it.
 * @param makeSure migrates it, or throws where it has another schema; null where this process has migrated it already.
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
      if (error instanceof RetryableError) throw new NotReadyError(redacted(messageOf(error)));
      throw error;
    }
  };
  return {
    probe: async () => {
      if (isSure) return void (await db.query('SELECT 1'));
      // Probes that come while another process still migrates the database share one check, and so one connection.
      looking ??= look().finally(() => {
        looking = null;
      });
      await looking;
    },
    refused: refused.promise,
  };
}
