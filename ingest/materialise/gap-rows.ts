import type { GapPlaceRow, GapRow } from '../../clickhouse/progress-tables.ts';
import type { GapObstacle, GapRecord } from '../../schemas/records.ts';
import { partsOf } from '../log/gap-obstacle.ts';

/** How far a gap is on one partition of the log. */
export interface GapPlace {
  /** Open: the highest slot that is still to be read. Closed by a reader of history: the highest that it has read. */
  toSlot: bigint;
  toTime: number | null;
  closed: boolean;
  before: string | null;
  obstacle: GapObstacle | null;
}

/**
 * Where a gap stands once a record of it is applied. Two processes may read the same gap: ingest, which opened it, and
 * a backfill, which closes it up to the slot that it has read to. Such a closing leaves a gap open that was opened
 * again beyond that slot. A gap that a backfill has closed is not opened again by ingest that still narrows it, but by
 * ingest that could not read a transaction of its first slot: the backfill's node may have listed fewer. A backfill
 * closes such a gap by naming the transaction, which it has read then. Where the backfill could not read one itself, it
 * says up to which slot it has read the rest, and a gap that reaches further stays as it is.
 */
export function gapAfter(known: GapPlace | undefined, record: GapRecord): GapPlace {
  const { fromSlot, toSlot, toTime, closed, before = null, obstacle = null } = record;
  const told = { toSlot, toTime, closed, before, obstacle };
  if (!closed && obstacle?.type === 'unread' && toSlot > fromSlot) {
    const isWider = known !== undefined && !known.closed && known.toSlot > toSlot;
    return isWider ? known : { ...told, toSlot: fromSlot };
  }
  if (known === undefined) return told;
  if (closed) {
    const reaches = toSlot === fromSlot || known.closed || (toSlot >= known.toSlot && hasRead(known, record));
    if (!reaches) return known;
    return { ...told, toSlot: known.closed && known.toSlot > toSlot ? known.toSlot : toSlot };
  }
  const isRead = known.closed && known.toSlot > fromSlot && toSlot <= known.toSlot;
  return isRead && obstacle?.type !== 'unread' ? known : told;
}

/**
 * Whether a closing knows of all that the gap lacks: where a gap of one slot names a transaction, the closing has to
 * name it, too. The name in a wider gap is told to nobody, so that none is asked for.
 */
function hasRead(known: GapPlace, { fromSlot, obstacle = null }: GapRecord): boolean {
  if (known.obstacle?.type !== 'unread' || known.toSlot !== fromSlot) return true;
  return obstacle?.type === 'unread' && obstacle.signature === known.obstacle.signature;
}

/**
 * Rows of a batch's gap records: those that open or widen a gap are written before the batch's facts, the rest after.
 */
export function gapRows(
  gaps: readonly { offset: bigint; gap: GapRecord }[],
  before: ReadonlyMap<bigint, GapPlace>,
  partition: number,
): { opened: GapRow[]; progressed: GapRow[]; places: GapPlaceRow[] } {
  const rows = { opened: [] as GapRow[], progressed: [] as GapRow[], places: [] as GapPlaceRow[] };
  const places = new Map<bigint, GapPlace>();
  for (const { offset, gap } of gaps) {
    const known = places.get(gap.fromSlot) ?? before.get(gap.fromSlot);
    const place = gapAfter(known, gap);
    places.set(gap.fromSlot, place);
    const row: GapRow = {
      from_slot: gap.fromSlot.toString(),
      log_partition: partition,
      log_offset: offset.toString(),
      to_slot: place.toSlot.toString(),
      to_time: place.toTime,
      closed: place.closed ? 1 : 0,
    };
    const opens = !place.closed && (known === undefined || known.closed || place.toSlot > known.toSlot);
    (opens || known === undefined ? rows.opened : rows.progressed).push(row);
    rows.places.push(placeRow(row, place));
  }
  return rows;
}

function placeRow(
  { from_slot, log_partition, log_offset }: GapRow,
  { before, obstacle }: GapPlace,
): GapPlaceRow {
  const { unread, firstSlot } = partsOf(obstacle);
  const first_slot = firstSlot === null ? null : firstSlot.toString();
  return { from_slot, log_partition, log_offset, before, unread, first_slot };
}
