/** How the stream stands, as ingestion tells it. */
export interface StreamState {
  connected: boolean;
  /** Unix milliseconds since which it is so. */
  since: number;
  /** Why it is not connected, or what of it the provider does not take; null: it has everything. */
  reason: string | null;
  /** Addresses beyond what the program owns whose states are wanted, and how many of them no stream carries. */
  addresses: number;
  overRpc: number;
  /** Whether lists of the program's accounts are known to be whole. Those who told before this was told did not say. */
  listed?: boolean;
  /** Once the index has come to this slot it has the accounts that were listed then. Null where they are not known to be. */
  listedSlot?: string | null;
}

/** Ingestion tells its state again this often, also where nothing has changed. */
export const STREAM_HEARTBEAT_MS = 10_000;
/** Nothing was told for so long: the last that was holds no more. */
export const STREAM_EXPIRES_MS = 3 * STREAM_HEARTBEAT_MS;
