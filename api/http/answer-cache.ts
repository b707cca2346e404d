import { LRUCache } from 'lru-cache';
import type { Answer } from './answers.ts';

export interface AnswerCacheOptions {
  /** Answers of another marker are not used again. */
  marker(): string;
  /** How long an answer may be used, counted from the start of the work on it. */
  maxAgeMs: number;
  maxBytes: number;
  /** Milliseconds that only go forward. */
  monotonic(): number;
}

export type AnswerCache = (key: string, produce: () => Promise<Answer>) => Promise<Answer>;

/** Shared answers as ready bytes: one production at a time for a key and marker; failures are not kept. */
export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const inFlight = new Map<string, Promise<Answer>>();
  const ready = new LRUCache<string, { marker: string; startedAt: number; answer: Answer }>({
    maxSize: options.maxBytes,
    sizeCalculation: (entry, key) => entry.answer.bytes.length + key.length + 200,
  });

  return async (key, produce) => {
    const marker = options.marker();
    const startedAt = options.monotonic();
    const known = ready.get(key);
    if (known?.marker === marker && startedAt - known.startedAt < options.maxAgeMs) return known.answer;

    const flight = `${marker}\n${key}`;
    const running = inFlight.get(flight);
    if (running !== undefined) return running;
    const started = produce();
    inFlight.set(flight, started);
    try {
      const answer = await started;
      if (options.maxAgeMs > 0) ready.set(key, { marker, startedAt, answer });
      return answer;
    } finally {
      inFlight.delete(flight);
    }
  };
}
