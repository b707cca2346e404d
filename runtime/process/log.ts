import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import { redacted, withoutSecrets } from '../config/secrets.ts';
import { createLogThrottle, throttleKey } from './log-throttle.ts';
import { printable } from './printable.ts';

export type { Logger };

/** pino's number of this level. */
const WARN = 40;

/**
 * Structured lines on standard error, so that standard output stays for people: JSON with a time in ISO 8601, without
 * characters that a terminal would obey. A warning or an error that repeats is logged now and then, with how many were
 * left out (`alike`).
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
          const alike = throttle(throttleKey(fields, sentence));
          if (alike === null) return;
          method.apply(this, alike === 0 ? args : [{ ...fields, alike }, sentence]);
        },
        streamWrite: (line) => printable(withoutSecrets(redacted(line), secrets)),
      },
    },
    standardError(),
  );
}

/**
 * Lines that cannot be written, to a full disk or a closed terminal, are left out: no process ends because of its log.
 * pino's own destination would keep them and all that follow in memory, so each failure opens a new one.
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
      // A full disk may have taken a part of the line that failed: end that one first.
      const begun = isCut ? `\n${line}` : line;
      isCut = false;
      out.write(begun);
    },
  };
}

const isObject = (fields: unknown): fields is object => typeof fields === 'object' && fields !== null;

/** The only fields of an error to log: database errors also have the statement's parameters and the row that failed. */
function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { message: 'an unknown failure' };
  const { type, message, stack, code } = stdSerializers.err(error);
  return { type, message, stack, ...(typeof code === 'string' ? { code } : {}) };
}
