import type { Store } from '../../client.ts';
import { KNOWS_PLACE, READING } from '../../reading-rank.ts';
import type { EventRow, PolicyTransactionRow, TransactionRow } from '../../tables.ts';
import { AMONG_TRANSACTIONS, byTransaction, type TransactionPlace } from './by-transaction.ts';

export interface EventPlace extends TransactionPlace {
  position: number;
}

/** The last slot of which an event ever came without a time; null where none did. */
export async function lastUndatedSlot(store: Store): Promise<bigint | null> {
  const [row] = await store.query<{ slot: string }>(
    'SELECT slot FROM undated_events ORDER BY slot DESC LIMIT 1',
  );
  return row === undefined ? null : BigInt(row.slot);
}

/** Events of some transactions that came without a time, and that no day has been summed up with since. */
export function undatedOf(store: Store, transactions: readonly TransactionPlace[]): Promise<EventPlace[]> {
  return byTransaction(transactions, (of) => {
    return store.query<EventPlace>(
      `SELECT DISTINCT slot, signature, position FROM undated_events
       WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
         AND (slot, signature, position) NOT IN (
           SELECT slot, signature, position FROM dated_events
           WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)})`,
      of,
    );
  });
}

/** What earlier readings of a transaction told. */
export interface ToldPlace extends TransactionPlace {
  /** Unix seconds; null where none told it. */
  time: number | null;
  /** Its index in the block; null where no reading told it, those included that another has replaced since. */
  index: number | null;
}

/** Of a transaction with cut logs only events tell the place: they are found by their mints, which are few. */
export async function toldPlaces(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<ToldPlace[]> {
  const rows = await byTransaction(transactions, (of) => {
    return store.query<TransactionPlace & { time: string | null; tx_index: number; is_placed: number }>(
      `SELECT slot, signature, max(block_time) AS time,
         argMaxIf(tx_index, has_index, ${KNOWS_PLACE}) AS tx_index, max(${KNOWS_PLACE}) AS is_placed
       FROM (
         SELECT slot, signature, if(kind = '', NULL, block_time) AS block_time, tx_index, has_index FROM events
         WHERE mint IN (SELECT mint FROM events_by_slot
             WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)})
           AND slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
           AND has_index != ${READING.takenBack}
         UNION ALL SELECT slot, signature, block_time, tx_index, has_index FROM transactions
         WHERE slot IN {slots:Array(UInt64)} AND signature IN {signatures:Array(String)}
       ) GROUP BY slot, signature`,
      of,
    );
  });
  return rows.map(({ slot, signature, time, tx_index, is_placed }) => ({
    ...{ slot, signature, time: time === null ? null : Number(time) },
    index: is_placed === 1 ? tx_index : null,
  }));
}

/** The standing rows of some transactions, without their times. */
export interface StandingFacts {
  events: Omit<EventRow, 'block_time'>[];
  transactions: Omit<TransactionRow, 'block_time'>[];
  policyTransactions: Omit<PolicyTransactionRow, 'block_time'>[];
}

export async function standingFacts(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<StandingFacts> {
  const read = <T>(columns: string, table: string, where: string) =>
    byTransaction(transactions, (of) =>
      store.query<T>(`SELECT ${columns} FROM ${table} FINAL ${AMONG_TRANSACTIONS} WHERE ${where}`, of),
    );
  const [events, whole, policyTransactions] = await Promise.all([
    read<StandingFacts['events'][number]>(
      `policy, mint, quote_mint, slot, signature, position, tx_index, has_index, kind, actor, summary,
       toString(amount_a) AS amount_a, toString(amount_b) AS amount_b, toString(amount_c) AS amount_c,
       toString(amount_d) AS amount_d, log_partition`,
      'events',
      "kind != ''",
    ),
    // A signature may occur in two slots, of which this table keeps one.
    read<StandingFacts['transactions'][number]>(
      'signature, slot, tx_index, has_index, failed',
      'transactions',
      '1',
    ),
    read<StandingFacts['policyTransactions'][number]>(
      'policy, slot, signature, tx_index, has_index',
      'policy_transactions',
      `has_index != ${READING.struck}`,
    ),
  ]);
  return { events, transactions: whole, policyTransactions };
}
