/** Rows of what says how far the index is, and of what was not read; as those of tables.ts. */

export interface GapRow {
  from_slot: string;
  log_partition: number;
  log_offset: string;
  to_slot: string;
  to_time: number | null;
  closed: 0 | 1;
}

/** Of the same offset as the gap's row. */
export interface GapPlaceRow {
  from_slot: string;
  log_partition: number;
  log_offset: string;
  before: string | null;
  unread: string | null;
  first_slot: string | null;
}

/**
 * Who follows events looks so many slots back from what is applied for those that came late. What comes in further behind
 * is counted, in the row of its partition, and so is a gap that is opened anew: its events are told of by its closing alone.
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
  /** Unix milliseconds of the log. */
  written_at: string | null;
  /** Null: as far as everything else, and `block_time` is known. */
  followed: string | null;
  /** Of that slot, or of a lower one where no more is known. */
  followed_time: number | null;
  /** Of this partition, with events further behind than WINDOW_SLOTS, or what opens a closed gap anew. */
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

/** Of a name that events gave an account. */
export interface NamedAccountRow {
  policy: string;
  /** Of a venue account; empty: the policy itself. */
  token_account: string;
  mint: string;
}
