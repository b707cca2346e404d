import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../clickhouse/client.ts';
import { appliedMarker } from '../clickhouse/queries/applied-marker.ts';

/** What the index has applied, as a text that changes with it. */
export interface Applied {
  marker(): string;
  /** Calls `listener` after each change; the returned function ends that. */
  subscribe(listener: () => void): () => void;
}

/** Told by the materialiser of the same process. */
export function createAppliedSignal(): Applied & { advance(): void } {
  const listeners = new Set<() => void>();
  let count = 0;
  return {
    marker: () => String(count),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    advance: () => {
      count += 1;
      for (const listener of listeners) listener();
    },
  };
}

/** Asked of the store every `intervalMs` until `signal` aborts; while it fails, the last answer stands. */
export function pollApplied(options: {
  currentStore: () => Store;
  intervalMs: number;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}): Applied & { done: Promise<void> } {
  const { advance, marker, subscribe } = createAppliedSignal();
  let last = '';
  async function run(): Promise<void> {
    while (!options.signal.aborted) {
      try {
        const store = options.currentStore();
        const now = `${store.database}.${await appliedMarker(store)}`;
        if (now !== last) advance();
        last = now;
      } catch (error) {
        options.onError(error);
      }
      await delay(options.intervalMs, undefined, { signal: options.signal }).catch(() => undefined);
    }
  }
  return { marker, subscribe, done: run() };
}
