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
  /** The highest offset that was ever applied: a batch that is read again, cut shorter, finds all facts up to there. */
  highest: bigint;
  slot: bigint;
  blockTime: number | null;
  /** The newest transaction; `text` is null where it was struck since, for the one before it is not kept. */
  lastSignature: { text: string | null; slot: bigint; index: number } | null;
  /** When the newest of all its records was appended, in unix milliseconds; null where that is not known. */
  writtenAt: number | null;
  /**
   * How far the states of followed addresses are, where that is not as far as everything else, or no time is known of
   * the slot; the time may be that of an earlier slot.
   */
  followed: MarkerRecord['followed'] | null;
  /** The gaps this partition has applied, by their first slots. */
  gaps: Map<bigint, GapPlace>;
  /**
   * Gaps, by first slot, with a stored row of a record beyond `offset`, as a killed writer leaves it: that row's
   * offset.
   */
  gapsAhead: ReadonlyMap<bigint, bigint>;
  /** How many batches brought events too far behind for readers of the newest slots, or opened a closed gap again. */
  lateBatches: number;
  /** The assignment by which this process had the partition; null where the row was read, or no other process reads. */
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

/** The gaps of a partition of transactions; other topics have none. */
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
  // Copied only then: it holds every gap that there ever was.
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
 * How far followed addresses are after a marker. The time of that slot may not be known: the process did not stream it,
 * or it has none. Then the time of the slot before stands, if that slot is no higher: hours that were passed stay
 * passed.
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
  // Of records that were applied before this was kept, all that is known is that they were written before now.
  const before = offset < 0n ? 0 : (writtenAt ?? now);
  return Math.max(before, batch.writtenAt);
}

/**
 * For a log that ends with its process: counts the offsets as applied that the last batch may have had when the process
 * ended. Its records come again with other offsets. Of rows of one key the one with the highest offset stands, so no
 * offset may be given out twice.
 * @param most the most entries of a batch.
 */
export async function skipCutOffBatch(store: Store, most: number): Promise<void> {
  const progress = await readProgress(store, 'transactions', 0);
  // The batch that was cut off may have opened a closed gap again.
  const lateBatches = progress.lateBatches + (progress.gapsAhead.size > 0 ? 1 : 0);
  const passed = { ...progress, lateBatches, offset: progress.offset + BigInt(most) };
  // Nothing is applied here: the API serves when something last was, so that time stays.
  const [last] = await store.query<{ at: string }>('SELECT toString(max(applied_at)) AS at FROM applied');
  await store.insert('applied', [progressRow(passed, Number(last?.at ?? 0))]);
}

/**
 * Whether a batch follows on what this process applied last. It does not where the partition was away in between, if
 * only for a failure elsewhere.
 */
export function isContinuedBy(progress: Progress | undefined, batch: LogBatch): progress is Progress {
  return (
    progress !== undefined &&
    progress.assignment === (batch.assignment ?? null) &&
    batch.entries[0]?.offset === progress.offset + 1n
  );
}
