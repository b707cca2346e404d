import { setTimeout as delay } from 'node:timers/promises';

const ANSWER_WITHIN_MS = 1_000;

/**
 * Wraps a question to a server that may hang: null where it failed or has not answered within a second. While a
 * question is under way, further calls wait for it instead of asking again.
 */
export function nullIfUnanswered<T>(ask: () => Promise<T>): () => Promise<T | null> {
  let underWay: Promise<T | null> | null = null;
  return async () => {
    underWay ??= ask()
      .catch(() => null)
      .finally(() => {
        underWay = null;
      });
    const late = new AbortController();
    const timeout = delay(ANSWER_WITHIN_MS, null, { signal: late.signal }).catch(() => null);
    try {
      return await Promise.race([underWay, timeout]);
    } finally {
      late.abort();
    }
  };
}
