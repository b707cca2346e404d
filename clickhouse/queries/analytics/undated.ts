import { chunks } from '../../../runtime/chunks.ts';
import type { Store } from '../../client.ts';

/**
 * An event that the sums of days may not have as it stands here: its time is not known, and lies between the times of
 * slots before it and behind it, or it became known just now.
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
  /** Whether its day was once summed up with it. Sums and event agree where it has both time and sum, or neither. */
  summed: 0 | 1;
  /** Unix seconds; null where no slot before it has a time that is known. */
  earliest: string | null;
  latest: string | null;
}

/** The events that have no time, or that the day of their time is not summed up with yet, in their order. */
export const STILL_UNDATED = `SELECT slot, signature, position, kind, mint, quote_mint, amount_a, amount_b, amount_c, amount_d,
       block_time, (slot, signature, position) IN (SELECT slot, signature, position FROM dated_events) AS summed
     FROM events_by_slot FINAL
     WHERE (slot, signature, position) IN (SELECT slot, signature, position FROM undated_events)
       AND (block_time IS NULL OR summed = 0) AND kind != ''
     ORDER BY slot, signature, position`;

/** Runs in one question: they travel as a bound parameter, of which a server takes 131,072 characters, encoded. */
const SPANS_PER_QUESTION = 5_000;

/** Block times rise with the slots: the runs of 512 slots on both sides of an event bound its time. */
export async function undatedEvents(store: Store): Promise<UndatedEvent[]> {
  const events = await store.query<Omit<UndatedEvent, 'earliest' | 'latest'>>(STILL_UNDATED);
  if (events.length === 0) return [];
  const spans = [
    ...new Set(events.flatMap(({ slot, block_time }) => (block_time === null ? [spanOf(slot)] : []))),
  ];
  const bounds = new Map<bigint, Bounds>();
  for (const some of chunks(spans, SPANS_PER_QUESTION))
    for (const [at, bound] of await boundsOf(store, some)) bounds.set(at, bound);
  return events.map((event) => ({
    ...event,
    ...(event.block_time === null
      ? (bounds.get(spanOf(event.slot)) ?? { earliest: null, latest: null })
      : { earliest: event.block_time, latest: event.block_time }),
  }));
}

const spanOf = (slot: string): bigint => BigInt(slot) / 512n;

type Bounds = Pick<UndatedEvent, 'earliest' | 'latest'>;

/**
 * For each of these runs the latest time of all runs below it, and the earliest of all above it. The table has a row
 * for each kind of each run there ever was: one pass serves all, each row under the last of them at or before it.
 */
async function boundsOf(store: Store, spans: readonly bigint[]): Promise<Map<bigint, Bounds>> {
  const rows = await store.query<{ lower: string; within: 0 | 1; first: string | null; last: string | null }>(
    `SELECT roundDown(span, {bounds:Array(UInt64)}) AS lower, span = lower AS within,
       min(first_event) AS first, max(last_event) AS last
     FROM kind_spans FINAL GROUP BY lower, within ORDER BY lower, within DESC`,
    // With 0 among them, what is below all of them is kept apart from the lowest.
    { bounds: [...new Set([0n, ...spans])].sort((one, other) => (one < other ? -1 : 1)) },
  );
  const asked = [...spans].sort((one, other) => (one < other ? -1 : 1));
  const bounds = new Map<bigint, Bounds>(asked.map((at) => [at, { earliest: null, latest: null }]));
  let next = 0;
  let earliest: string | null = null;
  for (const at of asked) {
    for (let row = rows[next]; row !== undefined && BigInt(row.lower) < at; row = rows[++next])
      if (row.last !== null && (earliest === null || BigInt(row.last) > BigInt(earliest)))
        earliest = row.last;
    (bounds.get(at) as Bounds).earliest = earliest;
  }
  next = rows.length - 1;
  let latest: string | null = null;
  for (const at of asked.reverse()) {
    const isAbove = ({ lower, within }: (typeof rows)[number]) =>
      BigInt(lower) > at || (BigInt(lower) === at && within === 0);
    for (let row = rows[next]; row !== undefined && isAbove(row); row = rows[--next])
      if (row.first !== null && (latest === null || BigInt(row.first) < BigInt(latest))) latest = row.first;
    (bounds.get(at) as Bounds).latest = latest;
  }
  return bounds;
}
