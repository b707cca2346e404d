import type { Store } from '../../client.ts';
import { sharedRead } from '../../shared-reads.ts';
import { STILL_UNDATED, type UndatedEvent, undatedEvents } from '../analytics/undated.ts';
import { LACKING } from '../transactions/unresolved.ts';
import { cachedUntilPartsChange, type PartRow, partsOf } from './parts-cache.ts';

/** How far the index is, over all partitions of accounts and transactions. */
export interface AppliedState {
  /** Partitions that have a row of their own. */
  partitions: number;
  /** Partitions of transactions that the log has. */
  transaction_partitions: number;
  /** Slot of the lowest marker; '0' before each partition has one. */
  slot: string;
  /** Slot of the highest marker of a partition; '0' where none has one. */
  highest_slot: string;
  block_time: string | null;
  /** Up to which slot followed addresses are applied too, and its time. */
  followed: string;
  followed_time: string | null;
  /** Null where no transaction that stands is known. */
  last_signature: string | null;
  /** The slot up to which all partitions of transactions were found to be what the chain says; null before that. */
  verified_slot: string | null;
  /** Unix milliseconds of the newest write of any materialiser. */
  applied_at: string;
  /** Batches with events, outside gaps, WINDOW_SLOTS or more back, or that opened a closed gap anew. */
  late_batches: number;
}

/** A row of a partition that is applied, a topic's partitions, or how far a partition is verified. */
interface AppliedPart {
  part: 'applied' | 'declared' | 'verified';
  topic: string;
  /** Of a `declared` part the number of the topic's partitions. */
  slot: string;
  block_time: string | null;
  followed: string;
  followed_time: string | null;
  last_signature: string | null;
  last_signature_slot: string;
  last_signature_index: number;
  applied_at: string;
  /** Null where they were not counted yet. */
  late_batches: number | null;
}

/** Added up here: the rows are few, and having the engine do it costs several times as much as reading them. */
export async function appliedState(store: Store): Promise<AppliedState> {
  const rows = await store.query<AppliedPart>(
    `SELECT 'applied' AS part, topic, slot, block_time, ifNull(a.followed, slot) AS followed,
       if(a.followed IS NULL, block_time, a.followed_time) AS followed_time,
       last_signature, last_signature_slot, last_signature_index, applied_at, late_batches
     FROM applied AS a FINAL WHERE topic IN ('accounts', 'transactions')
     UNION ALL
     SELECT 'declared', topic, toUInt64(partitions), NULL, toUInt64(0), NULL, NULL, toUInt64(0), toUInt32(0), toInt64(0), NULL
     FROM log_partitions FINAL WHERE topic IN ('accounts', 'transactions')
     UNION ALL
     SELECT 'verified', 'transactions', slot, NULL, toUInt64(0), NULL, NULL, toUInt64(0), toUInt32(0), toInt64(0), NULL
     FROM verified FINAL`,
    {},
  );
  const of = (part: AppliedPart['part']) => rows.filter((row) => row.part === part);
  const [applied, declared, verified] = [of('applied'), of('declared'), of('verified')];
  const signed = applied.filter(({ last_signature }) => last_signature !== null);
  const isOfTransactions = ({ topic }: AppliedPart) => topic === 'transactions';
  const partitionsOf = (parts: readonly AppliedPart[]) =>
    parts.reduce((sum, { slot }) => sum + Number(slot), 0);
  const ofTransactions = partitionsOf(declared.filter(isOfTransactions));
  const [lowest] = applied.length < partitionsOf(declared) ? [] : applied.toSorted(bySlot);
  const [leastFollowed] = lowest === undefined ? [] : applied.toSorted(byFollowed);
  const [lowestVerified] = verified.length < ofTransactions ? [] : verified.toSorted(bySlot);
  return {
    partitions: applied.length,
    transaction_partitions: Math.max(applied.filter(isOfTransactions).length, ofTransactions),
    slot: lowest?.slot ?? '0',
    highest_slot: applied.toSorted(bySlot).at(-1)?.slot ?? '0',
    block_time: lowest?.block_time ?? null,
    followed: leastFollowed?.followed ?? '0',
    followed_time: leastFollowed?.followed_time ?? null,
    last_signature: signed.toSorted(byLastSignature).at(-1)?.last_signature ?? null,
    verified_slot: lowestVerified?.slot ?? null,
    applied_at: String(applied.reduce((newest, row) => Math.max(newest, Number(row.applied_at)), 0)),
    late_batches: applied.reduce((sum, row) => sum + (row.late_batches ?? 0), 0),
  };
}

const compared = (one: string, other: string) => Number(BigInt(one) - BigInt(other));
const bySlot = (one: AppliedPart, other: AppliedPart) => compared(one.slot, other.slot);
/** Of equal slots the newest time first: a partition may not know the slot's time, or have that of an earlier slot. */
const byFollowed = (one: AppliedPart, other: AppliedPart) =>
  compared(one.followed, other.followed) || timeFollowed(other) - timeFollowed(one);
const timeFollowed = ({ followed_time }: AppliedPart) => Number(followed_time ?? -1);
const byLastSignature = (one: AppliedPart, other: AppliedPart) =>
  compared(one.last_signature_slot, other.last_signature_slot) ||
  one.last_signature_index - other.last_signature_index;

/** One interval of slots whose transactions the stream did not bring. */
export interface GapState {
  from_slot: string;
  /** Highest slot still to be read; of a closed gap the last value that it had. */
  to_slot: string;
  /** Null where one of the partitions that still hold it open does not know the time. */
  to_time: string | null;
  partitions: number;
  open_partitions: number;
  /** What keeps it open: a transaction that cannot be read, or the first slot of the history that the node keeps. */
  unread: string | null;
  first_slot: string | null;
  /** Of a closed gap: the slot above its first one at which history was to begin. What lies before was not read. */
  begin: string | null;
  /**
   * Partitions whose `unread`, `first_slot` and `begin` are still of an earlier record: new ones follow in a moment.
   */
  behind: number;
}

export const gapStates = cachedUntilPartsChange(['gaps', 'gap_places'], (store) =>
  store.query<GapState>(
    `SELECT g.from_slot AS from_slot,
       if(countIf(g.closed = 0) > 0, maxIf(g.to_slot, g.closed = 0), max(g.to_slot)) AS to_slot,
       if(countIf(g.closed = 0 AND g.to_time IS NULL) > 0, NULL, maxIf(g.to_time, g.closed = 0)) AS to_time,
       toUInt32(count()) AS partitions,
       toUInt32(countIf(g.closed = 0)) AS open_partitions,
       maxIf(p.unread, g.closed = 0) AS unread, maxIf(p.first_slot, g.closed = 0) AS first_slot,
       if(countIf(g.closed = 0) > 0, NULL, max(p.first_slot)) AS begin,
       toUInt32(countIf(p.log_offset < g.log_offset)) AS behind
     FROM gaps AS g FINAL
     LEFT JOIN (SELECT from_slot, log_partition, log_offset, unread, first_slot FROM gap_places FINAL) AS p
       ON p.from_slot = g.from_slot AND p.log_partition = g.log_partition
     GROUP BY g.from_slot
     ORDER BY g.from_slot`,
  ),
);

/** The open gaps: one is open until every partition of transactions has applied its opening and its closing. */
export const openOf = (gaps: readonly GapState[], applied: AppliedState): GapState[] =>
  gaps.filter((gap) => gap.open_partitions > 0 || gap.partitions < applied.transaction_partitions);

/** The transactions that are incomplete now, and the figures that are absent because of them. */
export interface IncompleteState {
  count: number;
  /**
   * Policies, each with one thing that is missing of it, as in schemas/incomplete.ts, and the newest and the oldest
   * block time of the transactions that lack it; null where the time of one of them is not known.
   */
  policies: [policy: string, missing: string, newest: string | null, oldest: string | null][];
  /** UTC days, YYYY-MM-DD, likewise. */
  days: [day: string, missing: string][];
  /** What is missing of transactions whose day is not known. */
  undated: string[];
  /** Events that are known, of slots whose time is not known, or became known just now. */
  undatedEvents: UndatedEvent[];
}

/** Stands for an unknown time, above every other: it may be the newest. */
const UNKNOWN_TIME = 'toInt64(9223372036854775807)';
/** Stands for an unknown time, below every other: it may be the oldest. */
const UNKNOWN_OLDEST = 'toInt64(-1)';

export async function incompleteState(store: Store): Promise<IncompleteState> {
  const events = await undatedEvents(store);
  const [row] = await store.query<Omit<IncompleteState, 'undatedEvents'>>(
    `WITH
       arrayFlatten(arrayMap(what -> arrayMap(policy -> (policy, toString(what)), i.policies), i.missing)) AS pairs,
       maxMap(pairs, arrayMap(pair -> ifNull(i.block_time, ${UNKNOWN_TIME}), pairs)) AS newest,
       minMap(pairs, arrayMap(pair -> ifNull(i.block_time, ${UNKNOWN_OLDEST}), pairs)) AS oldest
     SELECT toUInt32(uniqExact(i.signature)) AS count,
       arrayMap((pair, last, first) -> (pair.1, pair.2, nullIf(last, ${UNKNOWN_TIME}), nullIf(first, ${UNKNOWN_OLDEST})),
         newest.1, newest.2, oldest.2) AS policies,
       groupUniqArrayArrayIf(
         arrayMap(what -> (toString(toDate(fromUnixTimestamp64Second(assumeNotNull(i.block_time), 'UTC'))), toString(what)),
           i.missing), i.block_time IS NOT NULL) AS days,
       groupUniqArrayArrayIf(i.missing, i.block_time IS NULL) AS undated
     FROM incomplete_by_slot AS i FINAL
     WHERE ${LACKING}`,
    {},
  );
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return { ...row, undatedEvents: events };
}

/** One hash over those of all rows, in one subquery: two side by side cost twice as much. */
const HASH = 'hex(sipHash128(arraySort(groupArray(hash))))';

/** Gaps are never deleted, so this reads all there ever were: hence only when their table has changed. */
const markOfGaps = cachedUntilPartsChange(['gaps'], async (store): Promise<string> => {
  const hashes = "SELECT sipHash128('gap', from_slot, log_partition, closed) AS hash FROM gaps FINAL";
  const [row] = await store.query<{ mark: string }>(`SELECT ${HASH} AS mark FROM (${hashes})`);
  if (row === undefined) throw new Error('an aggregate without keys gave no row');
  return row.mark;
});

const MORE = 'more';
const PARTS = partsOf(['gaps']);

const MARK = `${PARTS}
  UNION ALL SELECT '${MORE}', if(count() = 0, '', ${HASH}) FROM (
    SELECT sipHash128('incomplete', signature, policies, missing, ifNull(block_time, 0)) AS hash
    FROM incomplete_by_slot FINAL WHERE ${LACKING}
    UNION ALL
    SELECT sipHash128('undated', slot, signature, position, ifNull(block_time, 0), summed) FROM (${STILL_UNDATED}))`;

/** The same for a store where nothing was ever incomplete or undated, with a check of that: half the cost. */
const MARK_OF_GAPS = `${PARTS}
  UNION ALL (SELECT '${MORE}', '' FROM incomplete_by_slot LIMIT 1)
  UNION ALL (SELECT '${MORE}', '' FROM undated_events LIMIT 1)`;

/** The stores in which something once was incomplete or without a time. */
const withMore = new WeakSet<Store>();

/**
 * A text that changes with what is missing: where a gap opens or closes in any partition, or a transaction becomes
 * incomplete or whole again.
 */
export const missingMark = sharedRead(async (store): Promise<string> => {
  let rows = withMore.has(store) ? null : await store.query<PartRow>(MARK_OF_GAPS);
  if (rows === null || rows.some(({ of }) => of === MORE)) {
    withMore.add(store);
    rows = await store.query<PartRow>(MARK);
  }
  const gaps = await markOfGaps.at(
    store,
    rows.filter(({ of }) => of !== MORE),
  );
  const more = rows.find(({ of }) => of === MORE)?.part ?? '';
  return more === '' ? gaps : `${gaps} ${more}`;
});
