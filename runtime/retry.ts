import { ConfigError, messageOf } from './errors.ts';
import { pause } from './process/lifecycle.ts';
import type { Logger } from './process/log.ts';

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 15_000;

/** Time to wait before try number `attempt` (from 0): doubling, bounded, with jitter so that many do not come at once. */
export function backoffMs(attempt: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 16)) * (0.5 + Math.random() / 2);
}

export interface RetryOptions {
  signal: AbortSignal;
  logger: Logger;
  /** Told what is being done, and after each failure why it was not. */
  onWait?(words: string): void;
}

/**
 * Tries until it works; null where the signal is aborted first.
 * @throws ConfigError, which trying again does not mend.
 */
export async function retryUntilDone<T>(
  what: string,
  task: () => Promise<T>,
  { signal, logger, onWait }: RetryOptions,
): Promise<T | null> {
  onWait?.(what);
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      return await task();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      logger.warn({ what, attempt, error: messageOf(error) }, 'trying again');
      onWait?.(`${what}: ${messageOf(error)}`);
      await pause(backoffMs(attempt), signal);
    }
  }
  return null;
}
