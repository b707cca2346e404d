import type { HourTable } from './tables.ts';

/** Rows of what accounts were over time, and of what the stream brought of them; as those of tables.ts. */

/** The last state of an account that was seen in an hour; of the columns of the state those of its table alone. */
export interface AccountHourRow {
  address: string;
  hour: number;
  version: string;
  /** Of the state, where its time is not known. */
  slot: string | null;
  block_time: number | null;
  exists: 0 | 1;
  held_in: HourTable | '';
}

/** What the policies of each quote asset sum up to at the beginning of an hour. */
export interface QuoteHourRow {
  hour: number;
  /** What all that it was made of can be told by. */
  made_of: string;
  /** JSON. */
  sums: string;
  /** Unix milliseconds. */
  written_at: string;
}

/** A closing state that had no hour when it came. */
export interface UndatedHourRow {
  address: string;
  slot: string;
  version: string;
  /** The rest of its row of an hour, as JSON: without a time until that is told. */
  state: string;
}

/** The lowest slot stands: `before` is 2^64 - 1 - slot. */
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
  /** A hash of what hours keep of the state that was found; null where none was, but that there may be one. */
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
