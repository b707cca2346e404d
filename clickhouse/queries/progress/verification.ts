import { chunks } from '../../../runtime/chunks.ts';
import type { Store } from '../../client.ts';
import { knowsPlace, READING } from '../../reading-rank.ts';
import {
  AMONG_TRANSACTIONS,
  byTransaction,
  nameOf,
  PER_QUESTION,
  type TransactionPlace,
} from '../transactions/by-transaction.ts';
import { STANDING } from '../transactions/disputed.ts';

/** A transaction as it is stored. */
export interface StoredTransaction {
  signature: string;
  slot: bigint;
  /** Whether something of it has no time, or the day of its time is not summed up with it yet. */
  undated?: boolean;
  /** Whether not all of its rows may have been written. */
  unwritten?: boolean;
  /** Whether it did something to a policy, or failed. Left out where it did nothing. */
  outcome?: 'effects' | 'failed';
  /** Set where the stream brought two versions of it: its index in the block as one has it, null where none does. */
  disputed?: { index: number | null };
}

export interface StoredEvent {
  signature: string;
  slot: string;
  position: number;
  policy: string;
  mint: string;
  quote_mint: string;
  log_partition: number;
}

/** The slot that every partition of transactions has seen verified; null before that. */
export async function verifiedSlot(store: Store): Promise<bigint | null> {
  // With a row a partition, having the engine add them up costs several times as much as reading them.
  const rows = await store.query<{ isDeclared: 0 | 1; number: string }>(
    `SELECT 0 AS isDeclared, slot AS number FROM verified FINAL
     UNION ALL SELECT 1, toUInt64(partitions) FROM log_partitions FINAL WHERE topic = 'transactions'`,
  );
  const of = (isDeclared: 0 | 1) =>
    rows.filter((row) => row.isDeclared === isDeclared).map(({ number }) => BigInt(number));
  const slots = of(0);
  const declared = of(1).reduce((sum, partitions) => sum + partitions, 0n);
  const [lowest] = slots.sort((one, other) => (one < other ? -1 : 1));
  return lowest === undefined || BigInt(slots.length) < declared ? null : lowest;
}

/** The first slot from there on that has an event; null where none has. */
export async function nextSlot(store: Store, from: bigint): Promise<bigint | null> {
  const [row] = await store.query<{ slot: string }>(
    'SELECT slot FROM events_by_slot WHERE slot >= {from:UInt64} ORDER BY slot LIMIT 1',
    { from },
  );
  return row === undefined ? null : BigInt(row.slot);
}

/** A transaction behind that slot, from which on a list of signatures can be read downwards. */
export async function signatureBehind(store: Store, slot: bigint): Promise<string | null> {
  const [row] = await store.query<{ signature: string }>(
    'SELECT signature FROM events_by_slot WHERE slot > {slot:UInt64} ORDER BY slot LIMIT 1',
    { slot },
  );
  return row?.signature ?? null;
}

/** Events of some slots that came without a time, and that no day has been summed up with since. */
const UNSUMMED = `SELECT slot, signature, position FROM undated_events
  WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND (slot, signature, position) NOT IN (
    SELECT slot, signature, position FROM dated_events WHERE slot >= {from:UInt64} AND slot <= {to:UInt64})`;

/**
 * Every transaction of these slots of which something is stored, whole or not. policy_transactions is in the order of
 * policies: rows of other slots are left out before versions are merged, for which all of the columns are read.
 */
export async function storedBetween(store: Store, from: bigint, to: bigint): Promise<StoredTransaction[]> {
  const rows = await store.query<{
    signature: string;
    slot: string;
    undated: number;
    written: number;
    effects: number;
    failed: number;
    disputed: number;
    rank: number;
    tx_index: number;
  }>(
    `SELECT slot, signature, max(without_time) AS undated, max(is_written) AS written, max(has_effects) AS effects,
       min(has_failed) AS failed, max(is_disputed) AS disputed, max(place_rank) AS rank, argMax(place, place_rank) AS tx_index
     FROM (
       SELECT slot, signature,
         isNull(block_time) OR (slot, signature, position) IN (${UNSUMMED}) AS without_time,
         0 AS is_written, 1 AS has_effects, 0 AS has_failed, 0 AS is_disputed, toUInt32(0) AS place,
         toUInt8(0) AS place_rank
       FROM events_by_slot FINAL
       WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND kind != ''
       UNION ALL SELECT slot, signature, isNull(block_time), 0, 1, 0, 0, 0, 0 FROM policy_transactions FINAL
       PREWHERE slot >= {from:UInt64} AND slot <= {to:UInt64} WHERE has_index != {struck:UInt8}
       UNION ALL SELECT slot, signature, 0, 1, 0, failed, 0, tx_index, has_index FROM transactions
       WHERE slot >= {from:UInt64} AND slot <= {to:UInt64}
       UNION ALL SELECT slot, signature, 0, 1, 1, 0, 0, 0, 0 FROM incomplete_by_slot
       WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND (slot, signature) NOT IN (
         SELECT slot, signature FROM disputed_transactions
         WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND standing = ${STANDING.struck})
       UNION ALL SELECT slot, signature, 0, 0, 0, 1, 1, 0, 0 FROM disputed_transactions FINAL
       WHERE slot >= {from:UInt64} AND slot <= {to:UInt64} AND standing = ${STANDING.disputed}
     ) GROUP BY slot, signature`,
    { from, to, struck: READING.struck },
  );
  return rows.map(({ signature, slot, undated, written, effects, failed, disputed, rank, tx_index }) => ({
    signature,
    slot: BigInt(slot),
    ...(undated === 1 ? { undated: true } : {}),
    ...(written === 0 ? { unwritten: true } : {}),
    ...(effects === 1 ? { outcome: 'effects' as const } : failed === 1 ? { outcome: 'failed' as const } : {}),
    ...(disputed === 1 ? { disputed: { index: knowsPlace(rank) ? tx_index : null } } : {}),
  }));
}

/** The events of some transactions, including those that were taken out: sums may still have them. */
export async function eventsOf(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<StoredEvent[]> {
  return ofEach(transactions, (of) =>
    store.query<StoredEvent>(
      `SELECT signature, slot, position, policy, mint, quote_mint, log_partition
       FROM events FINAL ${AMONG_TRANSACTIONS}`,
      of,
    ),
  );
}

/** The policies that some transactions wrote. */
export async function policiesOf(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<{ signature: string; slot: string; policy: string }[]> {
  return ofEach(transactions, (of) =>
    store.query(
      `SELECT signature, slot, policy FROM policy_transactions FINAL
       ${AMONG_TRANSACTIONS} WHERE has_index != {struck:UInt8}`,
      { ...of, struck: READING.struck },
    ),
  );
}

/** Rows of each transaction once, in its own slot: a signature may stand in two slots, asked for by two questions. */
async function ofEach<Row extends TransactionPlace>(
  transactions: readonly TransactionPlace[],
  ask: (of: { slots: bigint[]; signatures: string[] }) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  const all = [...new Map(transactions.map((one) => [nameOf(one), one])).values()];
  for (const some of chunks(all, PER_QUESTION)) {
    const names = new Set(some.map(nameOf));
    rows.push(...(await byTransaction(some, ask)).filter((row) => names.has(nameOf(row))));
  }
  return rows;
}
