import { redacted } from '../config/secrets.ts';
import { ConfigError, messageOf, RetryableError } from '../errors.ts';
import { printable } from './printable.ts';

/** How long an orderly stop may take before the process ends all the same. */
const STOP_LIMIT_MS = 15_000;
/** npm passes on a signal that its process group got already: one so soon after another is no person's. */
const SAME_SIGNAL_MS = 1_000;
/** How a pipe, a terminal and a socket say that nobody reads them any more. */
const GONE: ReadonlySet<string> = new Set(['EPIPE', 'EIO', 'ECONNRESET']);

/**
 * Runs a process until its work is done, a signal asks it to stop, or its standard output has no reader any more. It
 * goes on where its log has no reader, or a disk has no room for its output. Exit code 0 only on success. A ConfigError
 * or a RetryableError is printed as its sentence alone, anything else with its stack.
 */
export async function runMain(main: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  let askedAt = 0;
  const stop = () => {
    if (stopping.signal.aborted) {
      if (performance.now() - askedAt > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    askedAt = performance.now();
    stopping.abort();
    setTimeout(() => {
      process.stderr.write(`still busy after ${STOP_LIMIT_MS / 1000} s: ending all the same\n`);
      process.exit(1);
    }, STOP_LIMIT_MS).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (GONE.has(code ?? '') && !stopping.signal.aborted) stop();
  });
  process.stderr.on('error', () => undefined);
  try {
    await main(stopping.signal);
    process.exit(0);
  } catch (error) {
    const known = error instanceof ConfigError || error instanceof RetryableError;
    const said = known ? messageOf(error) : ((error as Error)?.stack ?? messageOf(error));
    process.stderr.write(`${printable(redacted(said))}\n`);
    process.exit(1);
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Waits for work for at most `millis`; false where it is not done by then. @throws What the work throws. */
export async function doneWithin(millis: number, work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), millis);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for `millis`, or until the signal is aborted. */
export function pause(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, millis);
    signal.addEventListener('abort', done, { once: true });
  });
}
