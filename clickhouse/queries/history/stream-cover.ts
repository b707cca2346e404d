import type { Store } from '../../client.ts';
import type { HoleRow } from '../../hour-tables.ts';

/** Where hours begin in slots, and which slots the stream did not bring. */
export interface StreamCover {
  /** Oldest first; the last one is the first hour behind the range. */
  hours: { hour: number; slot: string }[];
  /** In the order of their first slots. */
  holes: HoleRow[];
}

/** The cover of the hours from `from` up to `to`. */
export async function streamCover(store: Store, from: number, to: number): Promise<StreamCover> {
  const [hours, holes] = await Promise.all([
    store.query<StreamCover['hours'][number]>(
      `SELECT h.hour AS hour, toString(min(h.slot)) AS slot FROM hour_slots AS h
       WHERE h.hour >= {from:UInt32} AND h.hour <= (
         SELECT if(countIf(hour >= {to:UInt32}) = 0, 4294967295, minIf(hour, hour >= {to:UInt32})) FROM hour_slots)
       GROUP BY h.hour ORDER BY hour`,
      { from, to },
    ),
    store.query<HoleRow>(
      'SELECT DISTINCT after_slot, to_slot FROM stream_holes ORDER BY stream_holes.after_slot, stream_holes.to_slot',
    ),
  ]);
  return { hours, holes };
}

/** The first slot that is not before an hour begins; null where the stream has not come that far. */
export type FirstSlots = (hour: number) => bigint | null;

export function firstSlots({ hours }: Pick<StreamCover, 'hours'>): FirstSlots {
  // The lowest slot of each hour and all after it, the last hour first.
  const lowest: { hour: number; slot: bigint }[] = [];
  for (const { hour, slot } of hours.toReversed()) {
    const known = lowest.at(-1)?.slot;
    lowest.push({ hour, slot: known === undefined || BigInt(slot) < known ? BigInt(slot) : known });
  }
  const found = new Map<number, bigint | null>();
  return (wanted) => {
    const known = found.get(wanted);
    if (known !== undefined) return known;
    // Binary search for the last entry whose hour is not before the wanted one: the hours fall.
    let [low, high] = [0, lowest.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((lowest[middle] as { hour: number }).hour >= wanted) low = middle + 1;
      else high = middle;
    }
    const slot = lowest[low - 1]?.slot ?? null;
    found.set(wanted, slot);
    return slot;
  };
}
