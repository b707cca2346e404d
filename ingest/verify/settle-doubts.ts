import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { readTransaction } from '../../schemas/transaction/transaction.ts';
import { HistoryUnavailableError } from '../history/gap.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';

/** What became of transactions that a list marks otherwise than they are stored. */
export interface Settled<T> {
  /** What they did is stored, and they failed. */
  failed: T[];
  /** They are stored as failed, and did something. */
  succeeded: TransactionRecord[];
}

/**
 * Asks each transaction itself whether it failed: the stream may have brought it of a slot that was made twice, and a
 * list may be wrong about it. Where it says what is stored the list was.
 * @throws RpcError, HistoryUnavailableError where one cannot be read
 */
export async function settleDoubts<T extends PlacedTransaction>(
  doubted: Difference<T>['doubted'],
  read: (info: SignatureInfo) => Promise<TransactionRecord>,
): Promise<Settled<T>> {
  const settled: Settled<T> = { failed: [], succeeded: [] };
  for (const { info, stored } of doubted) {
    const record = await read(info);
    const failed = hasFailed(record, info.signature);
    if (failed && stored.outcome === 'effects') settled.failed.push(stored);
    if (!failed && stored.outcome === 'failed') settled.succeeded.push(record);
  }
  return settled;
}

/** @throws HistoryUnavailableError where nobody can read whether it did */
function hasFailed(record: TransactionRecord, signature: string): boolean {
  try {
    return readTransaction(record).failed;
  } catch (cause) {
    if (!(cause instanceof MalformedError)) throw cause;
    throw new HistoryUnavailableError(`whether transaction ${signature} failed cannot be read`);
  }
}
