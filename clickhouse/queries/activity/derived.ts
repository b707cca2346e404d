import { FIRST_DERIVED_POSITION } from '../../../schemas/extract/groups.ts';
import type { Store } from '../../client.ts';
import { DECIDED } from '../../reading-rank.ts';
import type { DerivedRow } from '../../tables.ts';
import { byTransaction, type TransactionPlace } from '../transactions/by-transaction.ts';
import { STANDING } from '../transactions/disputed.ts';

/**
 * For a read without FINAL of the slots from `slot` on: leaves out what a whole reading or a comparison with the chain
 * took back, and all that was brought of a transaction before a deciding reading of it. Only rows from
 * `slot` on are looked through: these tables keep what was taken back for good.
 */
export const notTakenBackFrom = (slot: string): string => `(slot, signature, position) NOT IN (
    SELECT slot, signature, position FROM derived_events WHERE taken_back = 1 AND slot >= ${slot})
  AND (has_index >= ${DECIDED} OR (slot, signature) NOT IN (
    SELECT slot, signature FROM disputed_transactions WHERE standing = ${STANDING.decided} AND slot >= ${slot}))`;

/** Derived events of some slots, those that were taken back too. */
export async function derivedBetween(store: Store, from: bigint, to: bigint): Promise<DerivedRow[]> {
  const rows = await store.query<Omit<DerivedRow, 'block_time'> & { block_time: string | null }>(
    `SELECT slot, signature, position, policy, mint, quote_mint, block_time, log_partition, taken_back
     FROM derived_events FINAL
     WHERE slot >= {from:UInt64} AND slot <= {to:UInt64}`,
    { from, to },
  );
  return rows.map((row) => ({
    ...row,
    block_time: row.block_time === null ? null : Number(row.block_time),
  }));
}

/** The lowest and the highest slot of derived events; null where there is none. */
export async function derivedSlots(store: Store): Promise<{ lowest: bigint; highest: bigint } | null> {
  const [row] = await store.query<{ count: string; lowest: string; highest: string }>(
    'SELECT count() AS count, min(slot) AS lowest, max(slot) AS highest FROM derived_events',
  );
  if (row === undefined || row.count === '0') return null;
  return { lowest: BigInt(row.lowest), highest: BigInt(row.highest) };
}

/** Those of some transactions whose cut reading counts no more: read whole in that slot, or struck out there. */
export function wholeAmong(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<TransactionPlace[]> {
  return byTransaction(transactions, (of) =>
    store.query<TransactionPlace>(
      `SELECT DISTINCT slot, signature FROM (
         SELECT slot, signature FROM whole_transactions
         WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
         UNION ALL SELECT slot, signature FROM disputed_transactions
         WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)} AND standing = ${STANDING.struck}
       )`,
      of,
    ),
  );
}

/** Those with events of a whole reading: before `whole_transactions` only one slot of a transaction was kept. */
export function wholeByEvents(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<TransactionPlace[]> {
  return byTransaction(transactions, (of) =>
    store.query<TransactionPlace>(
      `SELECT DISTINCT slot, signature FROM events_by_slot
       WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
         AND position < ${FIRST_DERIVED_POSITION}`,
      of,
    ),
  );
}
