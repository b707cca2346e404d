import { type DisputedRow, STANDING } from '../../../clickhouse/queries/transactions/disputed.ts';
import type { TransactionRecord, VerifiedRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';

/** The transactions that wait to be decided. */
export function disputedRows(transactions: readonly TransactionRecord[]): DisputedRow[] {
  return transactions
    .filter(({ standing }) => standing === 'disputed')
    .map((one) => rowOf(one.slot, encodeBase58(one.signature), STANDING.disputed));
}

/** Transactions that the chain does not have in their slot: those that were incomplete or disputed wait no longer. */
export function struckOutRows(verified: readonly VerifiedRecord[]): DisputedRow[] {
  return verified
    .flatMap((record) => record.struck)
    .map((one) => rowOf(one.slot, one.signature, STANDING.struck));
}

const rowOf = (slot: bigint, signature: string, standing: DisputedRow['standing']): DisputedRow => ({
  ...{ slot: slot.toString(), signature, standing },
});
