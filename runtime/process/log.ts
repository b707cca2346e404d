import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { hidden, withoutSecrets } from '../config/secrets.ts';
import { createLogThrottle, sameness } from './log-throttle.ts';
import { printable } from './printable.ts';

export type { Logger };

/** pino's number for it. */
const WARN = 40;

/**
 * Structured lines on standard error: JSON with a time in ISO 8601, so that standard output stays a person's, and without
 * what a terminal would obey. A warning or an error that says the same again comes now and then, with how many were left
 * out (`alike`).
 * @param secrets texts that no line may hold, beside those of the process's configuration.
 */
export function createLogger(level: string, process: string, secrets: readonly string[] = []): Logger {
  const throttle = createLogThrottle();
  return pino(
    {
      level,
      base: { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorFields },
      hooks: {
        logMethod(args, method, level) {
          const [fields, sentence] = args as unknown as [unknown, unknown];
          if (level < WARN || typeof sentence !== 'string' || !isObject(fields))
            return method.apply(this, args);
          const alike = throttle(sameness(fields, sentence));
          if (alike === null) return;
          method.apply(this, alike === 0 ? args : [{ ...fields, alike }, sentence]);
        },
        streamWrite: (line) => printable(withoutSecrets(hidden(line), secrets)),
      },
    },
    standardError(),
  );
}

/**
 * What cannot be written, on a disk that is full or a terminal that is closed, is left out: no process ends for its log.
 * pino's own destination would keep it and all that follows, so each failure begins another.
 */
function standardError(): DestinationStream {
  const opened = () => {
    const to = pino.destination({ dest: 2, sync: true });
    to.on('error', () => {
      out = opened();
      isCut = true;
    });
    return to;
  };
  let isCut = false;
  let out = opened();
  return {
    write: (line) => {
      // A disk takes part of the line that fills it.
      const begun = isCut ? `\n${line}` : line;
      isCut = false;
      out.write(begun);
    },
  };
}

const isObject = (fields: unknown): fields is object => typeof fields === 'object' && fields !== null;

/** What is logged of an error: databases hang the statement's parameters and the row that failed on theirs. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'an unknown failure' };
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(typeof code === 'string' ? { code } : {}) };
}
