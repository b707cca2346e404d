import type { Store } from '../../client.ts';
import { sharedRead } from '../../shared-reads.ts';
import { STILL_UNDATED, type UndatedEvent, undatedEvents } from '../analytics/undated.ts';

/** How far the index is, over all partitions of accounts and transactions. */
export interface AppliedState {
  /** That have a row of their own. */
  partitions: number;
  /** That the log has. */
  transaction_partitions: number;
  /** Lowest marker; '0' before each partition has one. */
  slot: string;
  block_time: string | null;
  last_signature: string | null;
  /** Up to which slot all of transactions' partitions are what the chain says; null before that. */
  verified_slot: string | null;
  /** Unix milliseconds of the newest write of any materialiser. */
  applied_at: string;
}

export async function appliedState(store: Store): Promise<AppliedState> {
  const [row] = await store.query<AppliedState>(
    `WITH
       (SELECT sum(partitions) FROM log_partitions FINAL WHERE topic IN ('accounts', 'transactions')) AS declared,
       (SELECT sum(partitions) FROM log_partitions FINAL WHERE topic = 'transactions') AS declared_of_transactions
     SELECT toUInt32(count()) AS partitions,
       toUInt32(greatest(countIf(topic = 'transactions'), declared_of_transactions)) AS transaction_partitions,
       if(count() < declared, 0, min(a.slot)) AS slot,
       if(count() < declared, NULL, argMin(tuple(a.block_time), a.slot).1) AS block_time,
       argMax(tuple(a.last_signature), (a.last_signature_slot, a.last_signature_index)).1 AS last_signature,
       (SELECT if(count() = 0 OR count() < declared_of_transactions, NULL, min(v.slot)) FROM verified AS v FINAL) AS verified_slot,
       max(a.applied_at) AS applied_at
     FROM applied AS a FINAL
     WHERE topic IN ('accounts', 'transactions')`,
    {},
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return row;
}

/** One interval of slots whose transactions the stream did not bring. */
export interface GapState {
  from_slot: string;
  /** Highest slot still to be read; of a closed gap its last value. */
  to_slot: string;
  /** Null where one of the partitions that still hold it open does not know the time. */
  to_time: string | null;
  partitions: number;
  open_partitions: number;
  /** What keeps it open: a transaction that cannot be read, or the first slot of the history that the node keeps. */
  unread: string | null;
  first_slot: string | null;
}

export async function gapStates(store: Store): Promise<GapState[]> {
  return store.query<GapState>(
    `SELECT g.from_slot AS from_slot,
       if(countIf(g.closed = 0) > 0, maxIf(g.to_slot, g.closed = 0), max(g.to_slot)) AS to_slot,
       if(countIf(g.closed = 0 AND g.to_time IS NULL) > 0, NULL, maxIf(g.to_time, g.closed = 0)) AS to_time,
       toUInt32(count()) AS partitions,
       toUInt32(countIf(g.closed = 0)) AS open_partitions,
       maxIf(p.unread, g.closed = 0) AS unread, maxIf(p.first_slot, g.closed = 0) AS first_slot
     FROM gaps AS g FINAL
     LEFT JOIN (SELECT from_slot, log_partition, unread, first_slot FROM gap_places FINAL) AS p
       ON p.from_slot = g.from_slot AND p.log_partition = g.log_partition
     GROUP BY g.from_slot
     ORDER BY g.from_slot`,
    {},
  );
}

/** The transactions that are incomplete now, and what they take with them. */
export interface IncompleteState {
  count: number;
  /** Policies, each beside something that is missing of it, as in schemas/lacks.ts. */
  policies: [policy: string, missing: string][];
  /** UTC days, YYYY-MM-DD, likewise. */
  days: [day: string, missing: string][];
  /** What is missing of a day that is not known. */
  undated: string[];
  /** Events that are known, of slots whose time is not. */
  undatedEvents: UndatedEvent[];
}

export async function incompleteState(store: Store): Promise<IncompleteState> {
  const events = await undatedEvents(store);
  const [row] = await store.query<Omit<IncompleteState, 'undatedEvents'>>(
    `SELECT toUInt32(count()) AS count,
       groupUniqArrayArray(
         arrayFlatten(arrayMap(what -> arrayMap(policy -> (policy, toString(what)), i.policies), i.missing))) AS policies,
       groupUniqArrayArrayIf(
         arrayMap(what -> (toString(toDate(fromUnixTimestamp64Second(assumeNotNull(i.block_time), 'UTC'))), toString(what)),
           i.missing), i.block_time IS NOT NULL) AS days,
       groupUniqArrayArrayIf(i.missing, i.block_time IS NULL) AS undated
     FROM incomplete_transactions AS i FINAL
     WHERE notEmpty(i.missing) AND i.signature NOT IN (
       SELECT signature FROM transactions WHERE signature IN (SELECT signature FROM incomplete_transactions))`,
    {},
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return { ...row, undatedEvents: events };
}

/** A text that changes with what is missing: a gap that opens or closes in any partition, a transaction that is incomplete or whole again. */
export const missingMark = sharedRead(async (store): Promise<string> => {
  const [row] = await store.query<{ mark: string }>(
    `SELECT hex(sipHash128(
       (SELECT groupArray((g.from_slot, g.log_partition, g.closed))
        FROM (SELECT from_slot, log_partition, closed FROM gaps FINAL ORDER BY from_slot, log_partition) AS g),
       (SELECT groupArray((i.signature, i.policies, i.missing, ifNull(i.block_time, 0)))
        FROM (SELECT signature, policies, missing, block_time FROM incomplete_transactions FINAL ORDER BY signature) AS i
        WHERE i.signature NOT IN (
          SELECT signature FROM transactions WHERE signature IN (SELECT signature FROM incomplete_transactions))),
       (SELECT groupArray((e.slot, e.signature, e.position)) FROM (${STILL_UNDATED}) AS e)
     )) AS mark`,
    {},
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return row.mark;
});
