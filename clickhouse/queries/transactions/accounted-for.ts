import type { Store } from '../../client.ts';
import { byTransaction, nameOf, type TransactionPlace } from './by-transaction.ts';
import { STANDING } from './disputed.ts';

/**
 * Those of some transactions of which nothing is missing, or only what is recorded as missing: read whole in that slot,
 * or with cut logs where all of it is derived or the policies that lack something are named. They are neither struck
 * out there nor waiting for a reading that decides between two versions.
 */
export async function accountedFor(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<TransactionPlace[]> {
  const names = new Set(transactions.map(nameOf));
  const rows = await byTransaction(transactions, (of) =>
    store.query<TransactionPlace>(
      `SELECT DISTINCT slot, signature FROM (
         SELECT slot, signature FROM whole_transactions
         WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
         UNION ALL SELECT slot, signature FROM incomplete_by_slot FINAL
         WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
           AND (empty(missing) OR notEmpty(policies))
       ) WHERE (slot, signature) NOT IN (
         SELECT slot, signature FROM disputed_transactions FINAL
         WHERE slot IN {slots:Array(UInt64)} AND standing < ${STANDING.decided})`,
      of,
    ),
  );
  return rows.filter((row) => names.has(nameOf(row)));
}
