import { type Logger, pino } from 'pino';

export type { Logger };

/** Structured lines on standard error: JSON with a time in ISO 8601, so that standard output stays a person's. */
export function createLogger(level: string, process: string): Logger {
  return pino(
    { level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  );
}
