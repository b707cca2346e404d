import { setTimeout as delay } from 'node:timers/promises';

const ANSWER_WITHIN_MS = 1_000;

/**
 * Asks a server that may hang for a figure: null where it failed or has not answered within a second. The question that is
 * under way is not asked beside itself.
 */
export function briefly<T>(ask: () => Promise<T>): () => Promise<T | null> {
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
