import type { Store } from '../../client.ts';
import type { IncompleteRow } from '../../tables.ts';
import { byTransaction, type InSlot, nameOf } from './by-transaction.ts';
import { STANDING } from './disputed.ts';

/**
 * For a read of incomplete_transactions: those that nothing has resolved. A transaction that was told in a slot which died
 * may land in another, so each slot is resolved by itself: it was read whole there, or the chain does not have it there.
 */
export const UNRESOLVED = `(signature, slot) NOT IN (
    SELECT signature, slot FROM transactions WHERE signature IN (SELECT signature FROM incomplete_transactions)
    UNION ALL
    SELECT signature, slot FROM disputed_transactions
    WHERE slot IN (SELECT slot FROM incomplete_transactions) AND standing = ${STANDING.struck})`;

/** Those of some transactions that lack something as far as their own rows say, resolved or not. */
export async function incompleteAmong(
  store: Store,
  transactions: readonly InSlot[],
): Promise<Pick<IncompleteRow, 'slot' | 'signature' | 'reason'>[]> {
  const names = new Set(transactions.map(nameOf));
  const rows = await byTransaction(transactions, (of) =>
    store.query<Pick<IncompleteRow, 'slot' | 'signature' | 'reason'>>(
      `SELECT slot, signature, reason FROM incomplete_transactions FINAL
       WHERE signature IN {signatures:Array(String)} AND slot IN {slots:Array(UInt64)} AND notEmpty(missing)`,
      of,
    ),
  );
  return rows.filter((row) => names.has(nameOf(row)));
}
