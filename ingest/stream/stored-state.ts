import type { Store } from '../../clickhouse/client.ts';
import { followedAccounts, openGaps, unresolvedTransactions } from '../../clickhouse/queries/stream-store.ts';
import type { ExpectedAccount } from '../../schemas/records.ts';
import type { Gap } from '../history/gap.ts';
import type { CutTransaction } from './cut-logs.ts';

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

/** What ClickHouse says of it: all but the position, which is the log's to tell. */
export function storedState(
  store: Store,
): Pick<StreamStore, 'knownAccounts' | 'openGaps' | 'incompleteTransactions'> {
  return {
    knownAccounts: () => followedAccounts(store),
    openGaps: () => openGaps(store),
    incompleteTransactions: () => unresolvedTransactions(store),
  };
}
