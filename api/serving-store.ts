import type { Store } from '../clickhouse/client.ts';
import { RetryableError } from '../runtime/errors.ts';
import { pause } from '../runtime/lifecycle.ts';

export interface ServingStore {
  /** The serving database. @throws RetryableError before the first connection. */
  currentStore(): Store;
  connected(): boolean;
  close(): Promise<void>;
}

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/** Connects in the background and again until it succeeds, so that the process answers while the store is down. */
export function serveFrom(
  open: () => Promise<Store>,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): ServingStore {
  let store: Store | null = null;
  const connecting = (async () => {
    for (
      let wait = FIRST_WAIT_MS;
      !signal.aborted && store === null;
      wait = Math.min(wait * 2, LONGEST_WAIT_MS)
    ) {
      try {
        store = await open();
      } catch (error) {
        onError(error);
        await pause(wait, signal);
      }
    }
  })();
  return {
    currentStore: () => {
      if (store === null) throw new RetryableError('the database is not connected yet');
      return store;
    },
    connected: () => store !== null,
    close: async () => {
      await connecting;
      await store?.close();
    },
  };
}
