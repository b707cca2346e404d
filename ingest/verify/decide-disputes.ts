import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import { extractEvents } from '../../schemas/extract/extract.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { readTransaction } from '../../schemas/transaction/transaction.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';

/**
 * Asks the chain what a transaction did of which the stream told two things. Where the node's logs are cut, too, it is
 * one reading more and decides nothing.
 * @throws RpcError, HistoryUnavailableError where it cannot be read
 */
export async function decideDispute(
  { info, stored }: Difference<PlacedTransaction>['disputed'][number],
  programId: Uint8Array,
  read: (info: SignatureInfo) => Promise<TransactionRecord>,
): Promise<TransactionRecord> {
  const record = await read(info);
  if (!isWhole(record, programId)) return record;
  // The log keeps the place with it: what else was told of it counts no more.
  return { ...record, index: record.index ?? stored.disputed?.index ?? null, standing: 'decides' };
}

function isWhole(record: TransactionRecord, programId: Uint8Array): boolean {
  try {
    return extractEvents(readTransaction(record), programId).status === 'whole';
  } catch (cause) {
    if (!(cause instanceof MalformedError)) throw cause;
    return false;
  }
}
