import { STREAM_EXPIRES_MS } from '../../../schemas/stream-state.ts';
import type { Store } from '../../client.ts';

export interface StreamStateRow {
  /** Unix milliseconds of the clock of ingestion, as `since`. */
  read_at: string;
  connected: number;
  since: string;
  reason: string | null;
  addresses: number;
  over_rpc: number;
  /** Milliseconds since ingestion reported it, by the clocks of the writers and of the store. */
  age_ms: string;
  /** Unix milliseconds, by the caller's clock, at which it was that old. */
  loaded_at: number;
}

/** Whether lists of the program's accounts were known to be whole when ingestion reported last. */
export interface ListedState {
  /** 0 where ingestion reported nothing yet, null where it did not say. */
  listed: number | null;
  /** Once the index has come to this slot it has the accounts listed then; null where ingestion did not say. */
  slot: string | null;
  /** 1 where it did not say, and its report had expired when it was applied: the index may be reading an old log. */
  late: number;
}

export const NOTHING_LISTED: ListedState = { listed: 0, slot: null, late: 0 };

export async function listedState(store: Store): Promise<ListedState> {
  const [row] = await store.query<ListedState>(
    `SELECT listed, listed_slot AS slot, listed_slot IS NULL AND lag_ms > {expires:UInt64} AS late
     FROM stream_state FINAL LIMIT 1`,
    { expires: STREAM_EXPIRES_MS },
  );
  return row ?? NOTHING_LISTED;
}

/**
 * What ingestion reported last of its stream; null where it never did.
 * @param now unix milliseconds, by the caller's clock, at which the age holds.
 */
export async function streamState(store: Store, now: number): Promise<StreamStateRow | null> {
  const [row] = await store.query<Omit<StreamStateRow, 'loaded_at'>>(
    `SELECT read_at, connected, since, reason, addresses, over_rpc,
       lag_ms + toUInt64(greatest(0, dateDiff('millisecond', written_at, now64(3)))) AS age_ms
     FROM stream_state FINAL LIMIT 1`,
    {},
  );
  return row === undefined ? null : { ...row, loaded_at: now };
}
