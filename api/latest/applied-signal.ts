import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../../clickhouse/client.ts';
import { appliedMarker } from '../../clickhouse/queries/applied-marker.ts';

/** What the index has applied, as a text that changes with it. */
export interface Applied {
  marker(): string;
}

/** Told by the materialiser of the same process. */
export function createAppliedSignal(): Applied & { advance(): void } {
  let count = 0;
  return {
    marker: () => String(count),
    advance: () => {
      count += 1;
    },
  };
}

/** Nobody asked for this long: the store is left alone. */
const IDLE_MS = 1_000;

/**
 * Asked of the store every `intervalMs` until `signal` aborts, as long as somebody wants to know; while it fails, the
 * last answer stands. Who wants to know again is told of a change: what happened meanwhile was not asked.
 */
export function pollApplied(options: {
  currentStore: () => Store;
  intervalMs: number;
  idleMs?: number;
  signal: AbortSignal;
  onError: (error: unknown) => void;
}): Applied & { done: Promise<void> } {
  const { currentStore, intervalMs, idleMs = IDLE_MS, signal, onError } = options;
  const { advance, marker } = createAppliedSignal();
  let last = '';
  let askedAt = performance.now();
  let wake: (() => void) | null = null;
  signal.addEventListener('abort', () => wake?.(), { once: true });
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const store = currentStore();
        const now = `${store.database}.${await appliedMarker(store)}`;
        if (now !== last) advance();
        last = now;
      } catch (error) {
        onError(error);
      }
      await delay(intervalMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || performance.now() - askedAt < idleMs) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return {
    marker: () => {
      askedAt = performance.now();
      if (wake !== null) {
        wake();
        wake = null;
        advance();
      }
      return marker();
    },
    done: run(),
  };
}
