import type { HourTable } from './tables.ts';

/** Rows of the states of accounts over time, and of what the stream brought of them; in the form of tables.ts. */

/** The last state of an account that was seen in an hour; of its columns those of its own table alone are set. */
export interface AccountHourRow {
  address: string;
  hour: number;
  version: string;
  /** Slot of the state, where its time is not known. */
  slot: string | null;
  block_time: number | null;
  exists: 0 | 1;
  held_in: HourTable | '';
}

/** What the policies of each quote asset sum up to at the beginning of an hour. */
export interface QuoteHourRow {
  hour: number;
  /** Identifies all that the sums were made of: where it is the same the sums are. */
  made_of: string;
  /** JSON. */
  sums: string;
  /** Unix milliseconds. */
  written_at: string;
}

/** A closing state whose hour was not known when it came. */
export interface UndatedHourRow {
  address: string;
  slot: string;
  version: string;
  /** The other columns of its AccountHourRow, as JSON: without a block time until that is known. */
  state: string;
}

/** Of several rows the one with the lowest slot stands: `before`, the version, is 2^64 - 1 - slot. */
export interface LowestSlot {
  hour: number;
  slot: string;
  before: string;
}

export interface FirstStreamedRow extends LowestSlot {
  address: string;
}

export interface UnseenRow {
  address: string;
  after_slot: string;
  to_slot: string;
  /** A hash of what hours keep of the state that was found; null where there only may be another state. */
  state: string | null;
}

/** A state that the stream brought behind the reading of `to_slot`, which had found the same. */
export interface BroughtRow {
  address: string;
  to_slot: string;
  slot: string;
}

/** Whether a stream brings every state of an account behind a slot. */
export interface CarriedRow {
  address: string;
  slot: string;
  carried: 0 | 1;
}

export interface HoleRow {
  after_slot: string;
  to_slot: string;
}
