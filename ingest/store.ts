import type { ExpectedAccount } from '../schemas/records.ts';
import type { Gap } from './history.ts';

/** What the stream needs to know of what is already there. */
export interface StreamStore {
  /** The lowest last marker over all partitions; null before the first. */
  position(): Promise<bigint | null>;
  /** Accounts that exist as far as is known, and what they are. */
  knownAccounts(): Promise<{ address: string; expected: ExpectedAccount }[]>;
  openGaps(): Promise<Gap[]>;
  /** Transactions whose cut logs were not read again yet. */
  incompleteTransactions(): Promise<{ signature: string; slot: bigint; blockTime: number | null }[]>;
}
