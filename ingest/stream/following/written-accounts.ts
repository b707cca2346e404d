import type { TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility, namedAccounts } from '../../../schemas/transaction/legibility.ts';
import { readTransaction } from '../../../schemas/transaction/transaction.ts';

/**
 * The accounts that a transaction may have written, of those that a stream brings every state of; base58. One that failed
 * wrote none. What strangers wrote into an account is read in turns, whatever they name.
 */
export function writtenAccounts(
  record: TransactionRecord,
  isStreamed: (address: Uint8Array) => boolean,
): string[] {
  if (legibility(record) === 'whole' && readTransaction(record).failed) return [];
  return (namedAccounts(record) ?? []).filter(isStreamed).map(encodeBase58);
}
