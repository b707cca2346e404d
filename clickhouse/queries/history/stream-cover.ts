import type { Store } from '../../client.ts';
import type { HoleRow } from '../../tables.ts';

/** Where hours begin in slots, and which slots the stream did not bring. */
export interface StreamCover {
  /** Oldest first; the last is the first behind the range. */
  hours: { hour: number; slot: string }[];
  holes: HoleRow[];
}

/** Of the hours from one up to another. */
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
