import type { Store } from '../../client.ts';
import { READING } from '../../reading-rank.ts';
import type { EventRow } from '../../tables.ts';
import { AMONG_TRANSACTIONS, byTransaction, type TransactionPlace } from './by-transaction.ts';

/** Standing of a transaction of which the stream brought two versions in one slot. The highest one written holds. */
export const STANDING = {
  /** Which version holds is not known. */
  disputed: 0,
  /** Neither version: the chain does not have it there. Written for each struck transaction, disputed or not. */
  struck: 1,
  /** A reading over RPC has decided. */
  decided: 2,
} as const;

export interface DisputedRow extends TransactionPlace {
  standing: (typeof STANDING)[keyof typeof STANDING];
}

/** The lowest and the highest slot of transactions that were decided; null where there is none. */
export async function decidedSlots(store: Store): Promise<{ lowest: bigint; highest: bigint } | null> {
  const [row] = await store.query<{ count: string; lowest: string; highest: string }>(
    `SELECT count() AS count, min(slot) AS lowest, max(slot) AS highest FROM disputed_transactions
     WHERE standing = ${STANDING.decided}`,
  );
  if (row === undefined || row.count === '0') return null;
  return { lowest: BigInt(row.lowest), highest: BigInt(row.highest) };
}

/** The transactions of these slots that were decided. */
export function decidedBetween(store: Store, from: bigint, to: bigint): Promise<TransactionPlace[]> {
  return store.query<TransactionPlace>(
    `SELECT DISTINCT slot, signature FROM disputed_transactions
     WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND standing = ${STANDING.decided}`,
    { from, to },
  );
}

/** The slots of transactions that are not decided yet, the lowest first, at most `most`. */
export async function disputedSlots(store: Store, most: number): Promise<bigint[]> {
  const rows = await store.query<{ slot: string }>(
    `SELECT DISTINCT slot FROM disputed_transactions FINAL WHERE standing = ${STANDING.disputed}
     ORDER BY slot LIMIT {most:UInt32}`,
    { most },
  );
  return rows.map(({ slot }) => BigInt(slot));
}

/** An event as it is stored, without its time and its place in the block. */
export type StoredReading = Omit<EventRow, 'tx_index' | 'block_time'>;

/** The standing events of some transactions, and the undone ones: an earlier try may have ended after it undid them. */
export async function eventsOfDecided(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<StoredReading[]> {
  return byTransaction(transactions, (of) =>
    store.query<StoredReading>(
      `SELECT policy, mint, quote_mint, slot, signature, position, has_index, kind, actor, summary,
         toString(amount_a) AS amount_a, toString(amount_b) AS amount_b, toString(amount_c) AS amount_c,
         toString(amount_d) AS amount_d, log_partition
       FROM events FINAL
       ${AMONG_TRANSACTIONS}
       WHERE kind != '' OR has_index = ${READING.undone}`,
      of,
    ),
  );
}

/** The policies that some transactions wrote, each with its highest reading; also those struck as not written. */
export async function policiesOfDecided(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<(TransactionPlace & { policy: string; has_index: number })[]> {
  return byTransaction(transactions, (of) =>
    store.query(
      `SELECT policy, slot, signature, has_index FROM policy_transactions FINAL
       ${AMONG_TRANSACTIONS}`,
      of,
    ),
  );
}
