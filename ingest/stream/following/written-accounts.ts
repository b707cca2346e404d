import type { TransactionRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { legibility, namedAccounts } from '../../../schemas/transaction/legibility.ts';
import { readTransaction } from '../../../schemas/transaction/transaction.ts';

/**
 * The streamed accounts that a transaction may have written, base58; a failed transaction wrote none. Addresses that
 * strangers wrote into an account are not among them: they are read in turns anyway.
 */
export function writtenAccounts(
  record: TransactionRecord,
  isStreamed: (address: Uint8Array) => boolean,
): string[] {
  if (legibility(record) === 'whole' && readTransaction(record).failed) return [];
  return (namedAccounts(record) ?? []).filter(isStreamed).map(encodeBase58);
}
