import type { Store } from '../../client.ts';
import { byTransaction, type InSlot, nameOf } from './by-transaction.ts';
import { STANDING } from './disputed.ts';

/**
 * Those of some transactions of which nothing is missing: read whole in that slot, and neither struck out there nor waiting
 * for a reading of the chain to decide between two.
 */
export async function wholeOf(store: Store, transactions: readonly InSlot[]): Promise<InSlot[]> {
  const names = new Set(transactions.map(nameOf));
  const rows = await byTransaction(transactions, (of) =>
    store.query<InSlot>(
      `SELECT DISTINCT slot, signature FROM whole_transactions
       WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
         AND (slot, signature) NOT IN (
           SELECT slot, signature FROM disputed_transactions FINAL
           WHERE slot IN {slots:Array(UInt64)} AND standing < ${STANDING.decided})`,
      of,
    ),
  );
  return rows.filter((row) => names.has(nameOf(row)));
}
