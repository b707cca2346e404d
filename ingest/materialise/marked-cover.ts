import type { HoleRow, LowestSlot } from '../../clickhouse/hour-tables.ts';
import type { MarkerRecord, TimeRecord } from '../../schemas/records.ts';
import { hourOf } from '../../schemas/units.ts';
import { lowestSlot } from './rows/hours/hours.ts';

/** What markers say of the stream: where hours begin in slots, and which slots it did not bring. */
export interface MarkedCover {
  hours: LowestSlot[];
  holes: HoleRow[];
}

/**
 * Where the parent of a marker is not the slot of the marker before it, the slots between were not streamed. Slots that
 * were missed for followed addresses are a hole too.
 * @param before where the partition stands: markers up to that slot were applied before.
 */
export function markedCover(
  markers: Iterable<MarkerRecord>,
  before: { slot: bigint; blockTime: number | null },
): MarkedCover {
  const cover: MarkedCover = { hours: [], holes: [] };
  let last = before.slot;
  let hour = hourOf(before.blockTime);
  for (const { slot, parent, blockTime, missed } of markers) {
    if (missed !== undefined)
      cover.holes.push({ after_slot: missed.after.toString(), to_slot: missed.to.toString() });
    if (slot <= last) continue;
    if (parent > last) cover.holes.push({ after_slot: last.toString(), to_slot: parent.toString() });
    last = slot;
    const at = hourOf(blockTime);
    if (at === null || at === hour) continue;
    cover.hours.push(lowestSlot(at, slot));
    hour = at;
  }
  return cover;
}

/** Where hours may begin by slots whose time became known late: their markers had none. */
export function toldSlots(times: readonly TimeRecord[]): LowestSlot[] {
  const lowest = new Map<number, bigint>();
  for (const { slot, blockTime } of times) {
    const hour = hourOf(blockTime) as number;
    const known = lowest.get(hour);
    if (known === undefined || slot < known) lowest.set(hour, slot);
  }
  return [...lowest].map(([hour, slot]) => lowestSlot(hour, slot));
}
