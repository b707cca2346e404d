import type { LogRecord } from '../../schemas/records.ts';

/** Topics of the log. Key of a record: accounts by address, transactions by signature, readings by mint or venue account. */
export type Topic = 'accounts' | 'transactions' | 'readings' | 'dead-letters';

export const TOPICS: readonly Topic[] = ['accounts', 'transactions', 'readings', 'dead-letters'];

/** Topics of which no record may be left out; of readings the newest is enough. */
export const HISTORY_TOPICS: readonly Topic[] = ['accounts', 'transactions'];

/** Up to which slots a log is whole. */
export interface LogPosition {
  slot: bigint;
  /** The same for the states of followed addresses; never above `slot`. */
  followed: bigint;
}

export interface LogWriter {
  /**
   * Appends records to the topic of their kind, at the partition of their key. Resolves once the log has
   * acknowledged all of them; waits where the log is full. A marker is sent once everything before it in `records`
   * is acknowledged. Markers go to every partition of accounts and
   * transactions, gap records to every partition of transactions.
   */
  append(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}

export interface LogEntry {
  offset: bigint;
  record: LogRecord;
  /** Unix milliseconds at which it was appended; absent where the log ends with its process, or the record came in parts. */
  writtenAt?: number;
}

/** The most entries of a batch. */
export const MAX_BATCH_ENTRIES = 5_000;

/** Consecutive entries of one partition, in offset order. */
export interface LogBatch {
  topic: Topic;
  partition: number;
  entries: LogEntry[];
  /** Unix milliseconds at which the newest of them was appended; absent where the log ends with its process. */
  writtenAt?: number;
  /**
   * Another number each time that the group assigns its partitions: another process may have had this partition in
   * between, and written rows of what is handed out now. Absent where no other process reads the log.
   */
  assignment?: number;
  /** False once the partition was taken away: stop, write nothing more. */
  owned(): boolean;
}

export interface LogReader {
  /**
   * Hands batches to `apply` until `signal` aborts: one at a time per partition, each offset committed only after
   * `apply` has returned. A throw leaves the batch uncommitted and it is handed out again.
   */
  run(apply: (batch: LogBatch) => Promise<void>, signal: AbortSignal): Promise<void>;
}
