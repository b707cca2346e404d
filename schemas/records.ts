/**
 * What the log carries: the updates of the chain and the venues as received, with the facts needed to place
 * them (slot, block time, write_version) beside the raw bytes, so that a better decoder can read history again.
 */

import type { Reading } from './readings.ts';

/**
 * Where an update came from: pushed by the Geyser stream, or read over JSON-RPC. For an account that says whether all
 * states since the one before are known, too.
 */
export type Source = 'stream' | 'rpc';

/** What kind of account an address is followed as; says what is missing where no account exists there. */
export type ExpectedAccount = 'program' | 'token_account' | 'mint' | 'metadata' | 'pool' | 'curve_config';

/** One state of an account. `lamports` 0 means that no account exists at the address as of `slot`. */
export interface AccountRecord {
  kind: 'account';
  source: Source;
  /** Slot of the write (stream) or context slot of the read (rpc). */
  slot: bigint;
  /** Unix seconds of `slot`; null where no source knows it. */
  blockTime: number | null;
  address: Uint8Array;
  owner: Uint8Array;
  lamports: bigint;
  data: Uint8Array;
  /** A node's count of writes inside a slot; 2^64-1 for an rpc read, which stands at the end of its slot. */
  writeVersion: bigint;
  /** Signature of the writing transaction (64 bytes), null where unknown. */
  signature: Uint8Array | null;
  /** Null for an address that came by the owner filter alone. */
  expected: ExpectedAccount | null;
}

/** One transaction that names the program. */
export interface TransactionRecord {
  kind: 'transaction';
  source: Source;
  slot: bigint;
  blockTime: number | null;
  signature: Uint8Array;
  /** Index in the block; null where the source does not give it. */
  index: number | null;
  /** Stand-in order inside the slot while `index` is null. */
  order: number;
  /** `geyser`: SubscribeUpdateTransactionInfo protobuf. `json`: UTF-8 JSON of a getTransaction result. */
  format: 'geyser' | 'json';
  payload: Uint8Array;
  /**
   * `disputed`: the stream brought two versions of it in that slot, of which this is one. `decides`: read over RPC to
   * decide which of them holds, or neither: it overrides all that the stream brought of it in that slot, or will bring.
   */
  standing?: 'disputed' | 'decides';
}

/** Everything of `slot` and before it is in the log, on this partition. */
export interface MarkerRecord {
  kind: 'marker';
  slot: bigint;
  parent: bigint;
  blockTime: number | null;
  /**
   * The slot up to which the states of followed addresses are in the log too, and its time; left out where that is
   * `slot`. A second marker of a slot says that those states have come further.
   */
  followed?: { slot: bigint; blockTime: number | null };
  /**
   * Slots behind `after`, up to `to`, of which the stream of followed addresses brought nothing and never will, or of
   * which what it brought may be of a version of the slot that died.
   */
  missed?: { after: bigint; to: bigint };
}

/**
 * State of an interval of slots [fromSlot, toSlot] whose transactions the stream did not bring. `fromSlot` is its
 * identity; `toSlot` falls as history is read from the newest to the oldest; `closed` once all of it is in the log. A
 * closed record with a `toSlot` behind `fromSlot` says how far was read, and holds only where the gap reaches no
 * further. So does an open one with a transaction that could not be read: all slots but the first were read.
 * Sent to every partition of transactions: it holds once all of them have applied it.
 */
export interface GapRecord {
  kind: 'gap';
  fromSlot: bigint;
  toSlot: bigint;
  /** Unix seconds of the oldest transaction read so far, or of the first slot after the gap; null if unknown. */
  toTime: number | null;
  closed: boolean;
  /** Where reading the list of its transactions goes on: behind this signature, base58, which is not the oldest. */
  before?: string | null;
  /** What keeps it open. Of a closed one: the transaction it had named, now there, or the slot it was read from. */
  obstacle?: GapObstacle | null;
}

/** What keeps a gap open: a transaction that is listed but that no node has, or a node whose history begins later. */
export type GapObstacle = { type: 'unread'; signature: string } | { type: 'pruned'; firstSlot: bigint };

/**
 * What is stored was compared with the chain up to `slot`; what was missing stands before this in the log. Sent to every
 * partition of transactions.
 */
export interface VerifiedRecord {
  kind: 'verified';
  slot: bigint;
  /** What the index has and the chain has not: to be taken out of the index. */
  struck: StruckTransaction[];
}

/** Keys are base58. */
export interface StruckTransaction {
  signature: string;
  slot: bigint;
  /** The policies that it wrote. */
  policies: string[];
  events: { position: number; policy: string; mint: string; quoteMint: string; logPartition: number }[];
}

/**
 * Asks the owner of the partition to recompute sums from its facts: another process wrote some of them. Its place in
 * the log orders it among the partition's own batches.
 */
export interface RecomputeRecord {
  kind: 'recompute';
  /** A partition of the topic of transactions. */
  partition: number;
  /** Base58. */
  mints: string[];
  /** The slots around which facts were written. */
  slots: bigint[];
}

/**
 * The profit that a transaction with cut logs swept of a policy: settled from the policy's states around it, for the
 * transaction itself does not tell. Stands in the log in front of that transaction, which is sent once more.
 */
export interface ProfitRecord {
  kind: 'profit';
  signature: Uint8Array;
  /** Base58. */
  policy: string;
  profit: bigint;
}

/**
 * The time of a slot in which an account was read when no source knew that time. Stands behind the account's record,
 * and dates the state where it is still the latest.
 */
export interface TimeRecord {
  kind: 'time';
  address: Uint8Array;
  slot: bigint;
  /** Unix seconds. */
  blockTime: number;
}

/**
 * Whether a stream brings every state of an account in slots behind `slot`; of an account without such a record, it
 * does. What is told of slots before says nothing of those behind.
 */
export interface CarriedRecord {
  kind: 'carried';
  address: Uint8Array;
  slot: bigint;
  /** Unix seconds of `slot`; null where no source knows it. */
  blockTime: number | null;
  carried: boolean;
}

/**
 * In `slot` the stream left out something that may have written the account: its state at the end of that slot is not
 * known, whatever is read of it later.
 */
export interface UnseenRecord {
  kind: 'unseen';
  address: Uint8Array;
  slot: bigint;
}

/**
 * A piece of a record that is larger than the log takes at once. It stands where its record would, and all of them in
 * order are the record's bytes.
 */
export interface PartRecord {
  kind: 'part';
  of: 'account' | 'transaction' | 'reading';
  /** Of the record: its address, its signature, or what it is a reading of. */
  key: Uint8Array;
  /** SHA-256 of the whole. */
  hash: Uint8Array;
  /** From 0. */
  at: number;
  count: number;
  bytes: Uint8Array;
}

/** A reading of the outside world, as the adapter validated it. */
export interface ReadingRecord {
  kind: 'reading';
  /** Milliseconds of our clock when the reply arrived; also the version: a newer reading replaces an older one. */
  readAt: number;
  reading: Reading;
}

/** An address of 32 zero bytes, base58: the `where` of a dead letter that is about no account. */
export const NO_ADDRESS = '1'.repeat(32);

/** What failed, where and why, with the bytes that failed. */
export interface DeadLetterRecord {
  kind: 'dead-letter';
  source: Source | 'poll';
  /** What it was meant to be: `account:Policy`, `transaction`, `event`, `reading:perp` … */
  what: string;
  /** Address, signature or mint, base58. */
  where: string;
  reason: string;
  slot: bigint | null;
  bytes: Uint8Array;
}

export type LogRecord =
  | AccountRecord
  | TransactionRecord
  | MarkerRecord
  | GapRecord
  | VerifiedRecord
  | RecomputeRecord
  | ProfitRecord
  | TimeRecord
  | CarriedRecord
  | UnseenRecord
  | ReadingRecord
  | PartRecord
  | DeadLetterRecord;
