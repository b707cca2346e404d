import { ConfigError, messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';

/** One small question each time. */
const LOOK_EVERY_MS = 1_000;

/**
 * Does work that writes for as long as it goes on, and stops it within seconds once a newer version has brought the
 * database further: what it went on writing would be missing for ever in tables that it does not know.
 * @param mustBeKnown throws a ConfigError then; where the database does not answer the work goes on.
 * @param work goes on until its signal is aborted.
 * @throws the ConfigError of `mustBeKnown`, once the work has ended; else what the work throws.
 */
export async function whileSchemaIsKnown<T>(
  mustBeKnown: () => Promise<void>,
  { logger, signal }: { logger: Logger; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const refused = new AbortController();
  const over = new AbortController();
  const look = async () => {
    while (!over.signal.aborted) {
      try {
        await mustBeKnown();
      } catch (error) {
        if (error instanceof ConfigError) return refused.abort(error);
        logger.debug({ reason: messageOf(error) }, 'the schema was not looked at');
      }
      await pause(LOOK_EVERY_MS, over.signal);
    }
  };
  // Not awaited: a server that does not answer would hold up the end.
  void look();
  try {
    return await work(AbortSignal.any([signal, refused.signal]));
  } finally {
    over.abort();
    // However the work has ended, a refusal is the reason.
    refused.signal.throwIfAborted();
  }
}
