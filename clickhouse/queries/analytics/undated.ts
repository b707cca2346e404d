import { chunks } from '../../../runtime/chunks.ts';
import type { Store } from '../../client.ts';

/**
 * An event of which the sums of days may not have what is told here: its time is not known, and lies between the times of
 * slots before it and behind it, or was told just now.
 */
export interface UndatedEvent {
  slot: string;
  kind: string;
  mint: string;
  quote_mint: string;
  amount_a: string;
  amount_b: string;
  amount_c: string;
  amount_d: string;
  /** Unix seconds; null where no source told it. */
  block_time: string | null;
  /** Whether its day was once summed up with it. Sums and event say the same where it has either time and sum or none. */
  summed: 0 | 1;
  /** Unix seconds; null where no slot before it has a time that is known. */
  earliest: string | null;
  latest: string | null;
}

/** The events that have no time, or are not summed up by it yet, in their order. */
export const STILL_UNDATED = `SELECT slot, signature, position, kind, mint, quote_mint, amount_a, amount_b, amount_c, amount_d,
       block_time, (slot, signature, position) IN (SELECT slot, signature, position FROM dated_events) AS summed
     FROM events_by_slot FINAL
     WHERE (slot, signature, position) IN (SELECT slot, signature, position FROM undated_events)
       AND (block_time IS NULL OR summed = 0) AND kind != ''
     ORDER BY slot, signature, position`;

/** The list travels as a bound parameter, of which a server takes 131,072 characters, encoded. */
const SPANS_PER_QUESTION = 5_000;

/** Block times rise with the slots: the runs of 512 slots on both sides of an event bound its time. */
export async function undatedEvents(store: Store): Promise<UndatedEvent[]> {
  const events = await store.query<Omit<UndatedEvent, 'earliest' | 'latest'>>(STILL_UNDATED);
  if (events.length === 0) return [];
  const spans = [
    ...new Set(events.flatMap(({ slot, block_time }) => (block_time === null ? [spanOf(slot)] : []))),
  ];
  const rows: { at: string; earliest: string | null; latest: string | null }[] = [];
  for (const some of chunks(spans, SPANS_PER_QUESTION))
    rows.push(
      ...(await store.query<(typeof rows)[number]>(
        `SELECT u.at AS at, maxOrNullIf(k.last_event, k.span < u.at) AS earliest,
           minOrNullIf(k.first_event, k.span > u.at) AS latest
         FROM (SELECT arrayJoin({spans:Array(UInt64)}) AS at) AS u CROSS JOIN (SELECT * FROM kind_spans FINAL) AS k
         GROUP BY u.at`,
        { spans: some },
      )),
    );
  const bounds = new Map(rows.map(({ at, earliest, latest }) => [at, { earliest, latest }]));
  return events.map((event) => ({
    ...event,
    ...(event.block_time === null
      ? (bounds.get(String(spanOf(event.slot))) ?? { earliest: null, latest: null })
      : { earliest: event.block_time, latest: event.block_time }),
  }));
}

const spanOf = (slot: string): bigint => BigInt(slot) / 512n;
