/** The state of the stream, as ingestion reports it. */
export interface StreamState {
  connected: boolean;
  /** Unix milliseconds since which it is so. */
  since: number;
  /** Why it is not connected, or what of it the provider does not take; null: it has everything. */
  reason: string | null;
  /** Addresses beyond what the program owns whose states are wanted, and how many of them no stream carries. */
  addresses: number;
  overRpc: number;
  /** Whether lists of the program's accounts are known to be whole; left out by versions that did not report it yet. */
  listed?: boolean;
  /** Once the index has come to this slot it has all accounts that were listed then; null where that is not known. */
  listedSlot?: string | null;
}

/** Ingestion reports its state again this often, also where nothing has changed. */
export const STREAM_HEARTBEAT_MS = 10_000;
/** After so long without a report the last one does not hold any more. */
export const STREAM_EXPIRES_MS = 3 * STREAM_HEARTBEAT_MS;
