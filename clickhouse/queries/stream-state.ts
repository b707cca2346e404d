import type { Store } from '../client.ts';

export interface StreamStateRow {
  /** Unix milliseconds of the clock of ingestion, as `since`. */
  read_at: string;
  connected: number;
  since: string;
  reason: string | null;
  addresses: number;
  over_rpc: number;
}

/** What ingestion told last of its stream; null where it never did. */
export async function streamState(store: Store): Promise<StreamStateRow | null> {
  const [row] = await store.query<StreamStateRow>(
    'SELECT read_at, connected, since, reason, addresses, over_rpc FROM stream_state FINAL LIMIT 1',
    {},
  );
  return row ?? null;
}
