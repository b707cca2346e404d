/** Rows about how far the index is, and about what was not read; in the form of those in tables.ts. */

export interface GapRow {
  from_slot: string;
  log_partition: number;
  log_offset: string;
  to_slot: string;
  to_time: number | null;
  closed: 0 | 1;
}

/** More of a gap, in a row with the offset of the gap's own row. */
export interface GapPlaceRow {
  from_slot: string;
  log_partition: number;
  log_offset: string;
  before: string | null;
  unread: string | null;
  first_slot: string | null;
}

/**
 * A follower of events looks so many slots back from the applied slot for events that came late. A batch with events
 * so far back or further, outside open gaps, is counted in its partition's row. So is one that opens a closed gap anew,
 * whose events only its closing announces.
 */
export const WINDOW_SLOTS = 64n;

export interface AppliedRow {
  topic: string;
  log_partition: number;
  log_offset: string;
  slot: string;
  block_time: number | null;
  last_signature: string | null;
  last_signature_slot: string;
  last_signature_index: number;
  /** Unix milliseconds. */
  applied_at: string;
  /** Unix milliseconds, as the log has them. */
  written_at: string | null;
  /** Null where followed addresses are as far as everything else, and `block_time` is known. */
  followed: string | null;
  /** Block time of that slot, or of a lower one where that is not known. */
  followed_time: number | null;
  /** Batches of this partition with events WINDOW_SLOTS or more back, or that opened a closed gap anew. */
  late_batches: number;
}

export interface DeadLetterRow {
  id: string;
  what: string;
  at: string;
  reason: string;
  source: string;
  slot: string | null;
  byte_length: string;
  /** base64 */
  bytes: string;
  /** Unix milliseconds. */
  read_at: string;
}

/** An account that events name. */
export interface NamedAccountRow {
  policy: string;
  /** Token account of the venue account that is named; empty where the policy itself is. */
  token_account: string;
  mint: string;
}
