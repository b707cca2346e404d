import { type Logger, pino, stdSerializers } from 'pino';
import { hidden, withoutSecrets } from '../config/secrets.ts';
import { printable } from './printable.ts';

export type { Logger };

/**
 * Structured lines on standard error: JSON with a time in ISO 8601, so that standard output stays a person's, and without
 * what a terminal would obey.
 * @param secrets texts that no line may hold, beside those of the process's configuration.
 */
export function createLogger(level: string, process: string, secrets: readonly string[] = []): Logger {
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      hooks: { streamWrite: (line) => printable(withoutSecrets(hidden(line), secrets)) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** What is logged of an error: databases hang the statement's parameters and the row that failed on theirs. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'an unknown failure' };
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(typeof code === 'string' ? { code } : {}) };
}
