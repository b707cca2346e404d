import type { Store } from '../../clickhouse/client.ts';
import type { AppliedRow, GapPlaceRow, GapRow } from '../../clickhouse/progress-tables.ts';
import type { LogRecord, MarkerRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { obstacleOf } from '../log/gap-obstacle.ts';
import type { LogBatch, Topic } from '../log/port.ts';
import { type GapPlace, gapAfter } from './gap-rows.ts';
import { type EventsOfBatch, isLate } from './late-events.ts';

/** What a partition's row in `applied` says; carried on from batch to batch. */
export interface Progress {
  topic: Topic;
  partition: number;
  offset: bigint;
  /** Up to where it ever was: what is read again, cut shorter, finds the facts of all that stood. */
  highest: bigint;
  slot: bigint;
  blockTime: number | null;
  /** Of the newest transaction that came; without its text where that was struck out since: what was before it is not kept. */
  lastSignature: { text: string | null; slot: bigint; index: number } | null;
  /** When the newest of all its records was appended, in unix milliseconds; null where that is not known. */
  writtenAt: number | null;
  /**
   * How far followed addresses are, where they are not as far as everything else or no time is known of the slot; the time
   * may be one that is passed.
   */
  followed: MarkerRecord['followed'] | null;
  /** The gaps this partition has applied, by their first slots. */
  gaps: Map<bigint, GapPlace>;
  /** By their first slots those with rows of records beyond what was applied, as of a writer that was killed: up to which. */
  gapsAhead: ReadonlyMap<bigint, bigint>;
  /** How many of its batches brought events too far behind for who looks at the newest slots, or opened a closed gap anew. */
  lateBatches: number;
  /** That by which this process had the partition then; null where it was read, or nobody else reads the log. */
  assignment: number | null;
}

/** As it is read back, where a time is a string. */
type StoredRow = Omit<AppliedRow, 'block_time' | 'followed_time' | 'late_batches'> & {
  block_time: string | null;
  followed_time: string | null;
  late_batches: number | null;
};

type StoredGap = Omit<GapRow, 'to_time'> &
  Pick<GapPlaceRow, 'before' | 'unread' | 'first_slot'> & { to_time: string | null };

/** Reads where a partition stands; the beginning where it was never applied. */
export async function readProgress(store: Store, topic: Topic, partition: number): Promise<Progress> {
  const [row] = await store.query<StoredRow>(
    `SELECT log_offset, slot, block_time, last_signature, last_signature_slot, last_signature_index, written_at,
       followed, followed_time, late_batches
     FROM applied FINAL WHERE topic = {topic:String} AND log_partition = {partition:UInt32}`,
    { topic, partition },
  );
  const gaps = topic === 'transactions' ? await storedGaps(store, partition) : [];
  const offset = BigInt(row?.log_offset ?? -1);
  const ahead = gaps.filter((gap) => BigInt(gap.log_offset) > offset);
  return {
    topic,
    partition,
    assignment: null,
    offset,
    highest: offset,
    slot: BigInt(row?.slot ?? 0),
    blockTime: row?.block_time == null ? null : Number(row.block_time),
    lastSignature:
      row === undefined || (row.last_signature === null && row.last_signature_slot === '0')
        ? null
        : {
            text: row.last_signature,
            slot: BigInt(row.last_signature_slot),
            index: row.last_signature_index,
          },
    writtenAt: row?.written_at == null ? null : Number(row.written_at),
    followed:
      row?.followed == null
        ? null
        : {
            slot: BigInt(row.followed),
            blockTime: row.followed_time === null ? null : Number(row.followed_time),
          },
    lateBatches: row?.late_batches ?? 0,
    gapsAhead: new Map(ahead.map((gap) => [BigInt(gap.from_slot), BigInt(gap.log_offset)])),
    gaps: new Map(
      gaps.map((gap) => [
        BigInt(gap.from_slot),
        {
          toSlot: BigInt(gap.to_slot),
          toTime: gap.to_time === null ? null : Number(gap.to_time),
          closed: gap.closed === 1,
          before: gap.before,
          obstacle: obstacleOf({
            unread: gap.unread,
            firstSlot: gap.first_slot === null ? null : BigInt(gap.first_slot),
          }),
        },
      ]),
    ),
  };
}

/** Of a partition of transactions: no other topic has any. */
const storedGaps = (store: Store, partition: number): Promise<StoredGap[]> =>
  store.query<StoredGap>(
    `SELECT g.from_slot AS from_slot, g.log_offset AS log_offset, g.to_slot AS to_slot, g.to_time AS to_time,
       g.closed AS closed,
       p.before AS before, p.unread AS unread, p.first_slot AS first_slot
     FROM gaps AS g FINAL
     LEFT JOIN (SELECT * FROM gap_places FINAL WHERE log_partition = {partition:UInt32}) AS p
       ON p.from_slot = g.from_slot
     WHERE g.log_partition = {partition:UInt32}`,
    { partition },
  );

export function progressRow(progress: Progress, appliedAt: number): AppliedRow {
  return {
    topic: progress.topic,
    log_partition: progress.partition,
    log_offset: progress.offset.toString(),
    slot: progress.slot.toString(),
    block_time: progress.blockTime,
    last_signature: progress.lastSignature?.text ?? null,
    last_signature_slot: (progress.lastSignature?.slot ?? 0n).toString(),
    last_signature_index: progress.lastSignature?.index ?? 0,
    applied_at: String(appliedAt),
    written_at: progress.writtenAt === null ? null : String(progress.writtenAt),
    followed: progress.followed?.slot.toString() ?? null,
    followed_time: progress.followed?.blockTime ?? null,
    late_batches: progress.lateBatches,
  };
}

/** Where a partition stands behind a batch. @param now unix milliseconds @param made what the batch came to */
export function advance(before: Progress, batch: LogBatch, now: number, made: EventsOfBatch): Progress {
  const writtenAt = writtenUpTo(before, batch, now);
  const assignment = batch.assignment ?? null;
  const lateBatches = before.lateBatches + (isLate(made, before) ? 1 : 0);
  const progress: Progress = { ...before, writtenAt, assignment, lateBatches };
  // There are as many as there ever were.
  if (batch.entries.some(({ record }) => record.kind === 'gap')) progress.gaps = new Map(before.gaps);
  for (const { offset, record } of batch.entries) {
    progress.offset = offset;
    if (offset > progress.highest) progress.highest = offset;
    if (record.kind === 'gap')
      progress.gaps.set(record.fromSlot, gapAfter(progress.gaps.get(record.fromSlot), record));
    if (record.kind === 'marker' && record.slot >= progress.slot) {
      const blockTime = record.slot > progress.slot ? record.blockTime : progress.blockTime;
      progress.followed = followedAt(progress, { ...record, blockTime });
      progress.blockTime = blockTime;
      progress.slot = record.slot;
    }
    progress.lastSignature = lastSignatureAt(progress.lastSignature, record);
  }
  return progress;
}

function lastSignatureAt(last: Progress['lastSignature'], record: LogRecord): Progress['lastSignature'] {
  if (record.kind === 'verified' && last !== null) {
    const isStruck = record.struck.some(
      ({ signature, slot }) => signature === last.text && slot === last.slot,
    );
    return isStruck ? { ...last, text: null } : last;
  }
  if (record.kind !== 'transaction') return last;
  const { slot } = record;
  const index = record.index ?? record.order;
  const isBehind =
    last !== null &&
    slot === last.slot &&
    (index > last.index || (index === last.index && last.text === null));
  const isNewer = last === null || slot > last.slot || isBehind;
  return isNewer ? { text: encodeBase58(record.signature), slot, index } : last;
}

/**
 * A process that has not streamed the slot they are at knows no time of it, nor does anybody of one that is told without.
 * It is no less than that of what they were at before, whose slot is none higher: hours that were passed stay so.
 */
function followedAt(before: Progress, { followed, slot, blockTime }: MarkerRecord): Progress['followed'] {
  const known = before.followed ?? { slot: before.slot, blockTime: before.blockTime };
  if (followed === undefined)
    return blockTime === null && known.blockTime !== null ? { slot, blockTime: known.blockTime } : null;
  return followed.blockTime === null && known.slot <= followed.slot
    ? { ...followed, blockTime: known.blockTime }
    : followed;
}

/** When the newest record was appended, up to the end of a batch. */
function writtenUpTo({ offset, writtenAt }: Progress, batch: LogBatch, now: number): number | null {
  if (batch.writtenAt === undefined) return null;
  // Of what was applied before anybody kept this, no more is known than that it was written before now.
  const before = offset < 0n ? 0 : (writtenAt ?? now);
  return Math.max(before, batch.writtenAt);
}

/**
 * Counts the offsets as applied that the last batch may have had before its process ended, for a log that ends with
 * it: what they were given to comes again. Of rows of one key that with the highest offset stands, so none is given
 * out twice.
 * @param most entries of a batch.
 */
export async function skipCutOffBatch(store: Store, most: number): Promise<void> {
  const progress = await readProgress(store, 'transactions', 0);
  // It may have opened a closed gap anew.
  const lateBatches = progress.lateBatches + (progress.gapsAhead.size > 0 ? 1 : 0);
  const passed = { ...progress, lateBatches, offset: progress.offset + BigInt(most) };
  // Nothing was applied: when something last was is served.
  const [last] = await store.query<{ at: string }>('SELECT toString(max(applied_at)) AS at FROM applied');
  await store.insert('applied', [progressRow(passed, Number(last?.at ?? 0))]);
}

/** Whether a batch follows on what was applied, or the partition was away meanwhile, if only for what failed elsewhere. */
export function follows(progress: Progress | undefined, batch: LogBatch): progress is Progress {
  return (
    progress !== undefined &&
    progress.assignment === (batch.assignment ?? null) &&
    batch.entries[0]?.offset === progress.offset + 1n
  );
}
