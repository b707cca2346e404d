import type { Store } from '../../client.ts';
import type { IncompleteRow } from '../../tables.ts';
import { byTransaction, nameOf, type TransactionPlace } from './by-transaction.ts';
import { STANDING } from './disputed.ts';

/**
 * The condition that a transaction is not resolved in its slot: resolved means read whole there, or struck there. Each
 * slot is resolved by itself, for a transaction of a slot that died may land in another, higher or lower. Signatures
 * are random: looked up in their order alone each would cost a granule of all that is stored.
 * Over several shards `distributed_product_mode` makes each IN a GLOBAL IN anyway. If an IN reads two tables the engine
 * does so once for each, and fails the second time (ClickHouse/ClickHouse#99370); so GLOBAL is written out here.
 */
const unresolvedOf = (rows: string): string => `(signature, slot) GLOBAL NOT IN (
    SELECT signature, slot FROM whole_transactions
    WHERE slot IN (SELECT slot FROM ${rows}) AND signature IN (SELECT signature FROM ${rows})
    UNION ALL
    SELECT signature, slot FROM disputed_transactions
    WHERE slot IN (SELECT slot FROM ${rows}) AND standing = ${STANDING.struck})`;

/** For a read of incomplete_by_slot: the transactions that are not resolved, be what they lack derived or not. */
export const UNRESOLVED = unresolvedOf('incomplete_by_slot');

/** Likewise, those of them that lack something; transactions that lack nothing are not looked up. */
export const LACKING = `notEmpty(missing) AND ${unresolvedOf('incomplete_by_slot WHERE notEmpty(missing)')}`;

/** Those of some transactions that lack something by their own rows, whether or not they are resolved. */
export async function incompleteAmong(
  store: Store,
  transactions: readonly TransactionPlace[],
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
