import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';

const EVERY_MS = 15_000;

/**
 * Probes Postgres until the signal is given, and logs when it does not answer: reads go on without it, so that
 * otherwise only an agent would notice.
 */
export async function watchPostgres(
  probe: () => Promise<void>,
  logger: Record<'warn' | 'info', (fields: object, sentence: string) => void>,
  signal: AbortSignal,
  everyMs = EVERY_MS,
): Promise<void> {
  let isAway = false;
  while (!signal.aborted) {
    try {
      await probe();
      if (isAway) logger.info({}, 'Postgres answers again');
      isAway = false;
    } catch (error) {
      if (signal.aborted) return;
      isAway = true;
      logger.warn(
        { reason: messageOf(error) },
        'POSTGRES_URL: Postgres is unusable; agent requests are refused until it recovers',
      );
    }
    await pause(everyMs, signal);
  }
}
