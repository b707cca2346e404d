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
 * Where a gap stands once a record of it is applied. Two may read the same gap: whoever opened it, and a backfill,
 * which closes it up to the slot that it has read to. Such a closing leaves a gap open that was opened again further
 * than that, and what it has closed is not opened again by somebody who still narrows it; but by whoever could not read
 * a transaction of its first slot, for a reader of history may have been told of fewer. That one a backfill closes by
 * naming the transaction, which it has read then. Where it could not itself it says up to which slot it has read the
 * rest, and leaves as it is what reaches further.
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

/** Whether whoever closes a gap of one slot that names a transaction names it too; of a wider one nobody is told the name. */
function hasRead(known: GapPlace, { fromSlot, obstacle = null }: GapRecord): boolean {
  if (known.obstacle?.type !== 'unread' || known.toSlot !== fromSlot) return true;
  return obstacle?.type === 'unread' && obstacle.signature === known.obstacle.signature;
}

/** Rows of a batch's gap records: what opens a gap or widens it precedes the facts behind it, the rest follows them. */
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
