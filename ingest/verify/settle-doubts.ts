import { MalformedError } from '../../schemas/malformed.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { readTransaction } from '../../schemas/transaction/transaction.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';
import type { ReadTransaction } from './window-reader.ts';

/** What became of transactions that a list marks otherwise than they are stored. */
export interface Settled<T> {
  /** Stored with what they did, but failed on the chain. */
  failed: T[];
  /** Stored as failed, but did something; or the node does not say whether they failed. */
  succeeded: TransactionRecord[];
}

/**
 * Asks each transaction itself whether it failed: the stream may have brought it of a slot that was made twice, and a
 * list may be wrong about it. Where it says what is stored, the list was wrong; one that cannot be read stays as it is.
 * @throws RpcError, HistoryUnavailableError
 */
export async function settleDoubts<T extends PlacedTransaction>(
  doubted: Difference<T>['doubted'],
  read: ReadTransaction,
): Promise<Settled<T>> {
  const settled: Settled<T> = { failed: [], succeeded: [] };
  for (const { info, stored } of doubted) {
    const record = await read(info);
    if (record === null) continue;
    const failed = hasFailed(record);
    if (failed === true && stored.outcome === 'effects') settled.failed.push(stored);
    // A record that does not say whether it failed goes into the log, too, as from history: it marks the figures that
    // it may have changed as missing.
    if (failed === null || (!failed && stored.outcome === 'failed')) settled.succeeded.push(record);
  }
  return settled;
}

/** Null where it does not say. */
function hasFailed(record: TransactionRecord): boolean | null {
  try {
    return readTransaction(record).failed;
  } catch (cause) {
    if (!(cause instanceof MalformedError)) throw cause;
    return null;
  }
}
