import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/process/log.ts';
import { createRecent } from '../../runtime/recent.ts';

const EVERY_MS = 1_000;
const MOST_SENTENCES = 100;
const SENTENCE_MAX = 300;

/**
 * Logs requests that failed. While a store is away every request fails: of those that say the same, one a second is
 * logged, with how many like it were left out since the last. The metrics count each.
 * @param monotonic milliseconds that only go forward
 */
export function logFailedRequests(logger: Pick<Logger, 'error'>, monotonic = () => performance.now()) {
  const logged = createRecent<{ at: number; alike: number }>(MOST_SENTENCES);
  return (error: unknown, path: string): void => {
    const sentence = messageOf(error).slice(0, SENTENCE_MAX);
    const now = monotonic();
    const last = logged.get(sentence);
    if (last !== undefined && now - last.at < EVERY_MS) {
      last.alike += 1;
      return;
    }
    logged.set(sentence, { at: now, alike: 0 });
    logger.error({ err: error, path, alike: last?.alike ?? 0 }, 'a request failed');
  };
}
