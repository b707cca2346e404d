import type { Store } from '../../client.ts';
import type { IncompleteRow } from '../../tables.ts';
import { byTransaction, type InSlot, nameOf } from './by-transaction.ts';
import { STANDING } from './disputed.ts';

/**
 * A transaction that was told in a slot which died may land in another, higher or lower, so each slot is resolved by
 * itself: it was read whole there, or the chain does not have it there. Signatures are random: in their order each would
 * cost a granule of all that is stored.
 */
const unresolvedOf = (rows: string): string => `(signature, slot) NOT IN (
    SELECT signature, slot FROM whole_transactions
    WHERE slot IN (SELECT slot FROM ${rows}) AND signature IN (SELECT signature FROM ${rows})
    UNION ALL
    SELECT signature, slot FROM disputed_transactions
    WHERE slot IN (SELECT slot FROM ${rows}) AND standing = ${STANDING.struck})`;

/** For a read of incomplete_by_slot: those that nothing has resolved, what they lack derived or not. */
export const UNRESOLVED = unresolvedOf('incomplete_by_slot');

/** Likewise, of those the ones that lack something: what was read again is not looked for. */
export const LACKING = `notEmpty(missing) AND ${unresolvedOf('incomplete_by_slot WHERE notEmpty(missing)')}`;

/** Those of some transactions that lack something as far as their own rows say, resolved or not. */
export async function incompleteAmong(
  store: Store,
  transactions: readonly InSlot[],
): Promise<Pick<IncompleteRow, 'slot' | 'signature' | 'reason'>[]> {
  const names = new Set(transactions.map(nameOf));
  const rows = await byTransaction(transactions, (of) =>
    store.query<Pick<IncompleteRow, 'slot' | 'signature' | 'reason'>>(
      `SELECT slot, signature, reason FROM incomplete_by_slot FINAL
       WHERE signature IN {signatures:Array(String)} AND slot IN {slots:Array(UInt64)} AND notEmpty(missing)`,
      of,
    ),
  );
  return rows.filter((row) => names.has(nameOf(row)));
}
