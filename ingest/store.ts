import type { ExpectedAccount } from '../schemas/records.ts';
import type { Gap } from './history.ts';
import type { CutTransaction } from './reread.ts';

/** What the stream needs to know of what is already there. */
export interface StreamStore {
  /** The lowest last marker over all partitions of the log; null before each has one. */
  position(): Promise<bigint | null>;
  /**
   * The lowest marker that is applied, where the log may be ahead of what the rest of this answers from; absent
   * where what the log holds is what is applied.
   */
  applied?(): Promise<bigint | null>;
  /** Accounts that exist as far as is known, and what they are. */
  knownAccounts(): Promise<{ address: string; expected: ExpectedAccount }[]>;
  openGaps(): Promise<Gap[]>;
  /** Transactions whose cut logs were not read again yet. */
  incompleteTransactions(): Promise<CutTransaction[]>;
}
