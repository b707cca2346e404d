import { extractEvents } from '../../schemas/extract/extract.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { readTransaction } from '../../schemas/transaction/transaction.ts';
import type { Difference, PlacedTransaction } from './verify-window.ts';
import type { ReadTransaction } from './window-reader.ts';

/**
 * Asks the chain what a transaction did of which the stream told two versions. Where the node's logs are cut, too, the
 * record is one more reading and decides nothing; null where the transaction cannot be read.
 * @throws RpcError, HistoryUnavailableError
 */
export async function decideDispute(
  { info, stored }: Difference<PlacedTransaction>['disputed'][number],
  programId: Uint8Array,
  read: ReadTransaction,
): Promise<TransactionRecord | null> {
  const record = await read(info);
  if (record === null || !isWhole(record, programId)) return record;
  // The record takes over the known index: no other version of the transaction counts any more.
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
