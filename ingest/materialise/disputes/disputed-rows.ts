import { type DisputedRow, STANDING } from '../../../clickhouse/queries/progress/disputed.ts';
import type { TransactionRecord, VerifiedRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';

/** The transactions that wait to be decided, and those that do not any more: the chain does not have them. */
export function disputedRows(
  transactions: readonly TransactionRecord[],
  verified: readonly VerifiedRecord[],
): DisputedRow[] {
  const disputed = transactions.filter(({ standing }) => standing === 'disputed');
  const struck = verified.flatMap((record) => record.struck);
  return [
    ...disputed.map((one) => rowOf(one.slot, encodeBase58(one.signature), STANDING.disputed)),
    ...struck.map((one) => rowOf(one.slot, one.signature, STANDING.struck)),
  ];
}

const rowOf = (slot: bigint, signature: string, standing: DisputedRow['standing']): DisputedRow => ({
  ...{ slot: slot.toString(), signature, standing },
});
