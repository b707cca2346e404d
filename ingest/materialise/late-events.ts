import { type GapRow, WINDOW_SLOTS } from '../../clickhouse/progress-tables.ts';
import type { RecomputeRecord } from '../../schemas/records.ts';
import type { GapPlace } from './gap-rows.ts';

type Slotted = { slot: string; mint: string };

/** The events that a batch writes, takes back, or says that another process has written (`recomputes`). */
export interface EventsOfBatch {
  facts: { events: readonly Slotted[]; derived: readonly Slotted[] };
  struck: { events: readonly Slotted[] };
  records: { recomputes: readonly RecomputeRecord[] };
  gaps: { opened: readonly GapRow[]; progressed: readonly GapRow[] };
}

/** Where the partition stood before. */
interface Before {
  slot: bigint;
  highest: bigint;
  gaps: ReadonlyMap<bigint, GapPlace>;
  gapsAhead: ReadonlyMap<bigint, bigint>;
}

/**
 * Whether some events lie so far behind what the partition had applied that a reader of the newest slots alone does not
 * find them. Those in an open gap do not count: the closing of the gap tells of them. A closed gap that is opened again
 * counts as it opens: a client that is away from before that until after its closing finds as many closed gaps as
 * before. Only the batch and the place of the partition decide, never the stored events: a batch that is tried again
 * finds its own among them.
 */
export function isLate({ facts, struck, records, gaps }: EventsOfBatch, before: Before): boolean {
  const isBehind = (slot: bigint) => slot + WINDOW_SLOTS <= before.slot;
  const events = [...facts.events, ...facts.derived, ...struck.events].filter(({ mint }) => mint !== '');
  const behind = events.map(({ slot }) => BigInt(slot)).filter(isBehind);
  const open = behind.length === 0 ? [] : [...openIn(before.gaps), ...gaps.opened.map(slotsOf)];
  const isInGap = (slot: bigint) => open.some(([from, to]) => from <= slot && slot <= to);
  // Recompute records tell only around which slots another process has written: these count in open gaps too.
  return (
    behind.some((slot) => !isInGap(slot)) ||
    records.recomputes.some(({ slots }) => slots.some(isBehind)) ||
    [...gaps.opened, ...gaps.progressed].some((row) => opensAnew(row, before))
  );
}

/**
 * Whether a row opens a closed gap again. A gap with rows ahead of the partition's place may have been closed: it
 * counts.
 */
function opensAnew({ from_slot, log_offset, closed }: GapRow, { highest, gaps, gapsAhead }: Before): boolean {
  const [from, offset] = [BigInt(from_slot), BigInt(log_offset)];
  // A record that is read again was counted when it was first applied.
  if (closed === 1 || offset <= highest) return false;
  return gaps.get(from)?.closed === true || offset <= (gapsAhead.get(from) ?? -1n);
}

type Slots = [from: bigint, to: bigint];

const slotsOf = ({ from_slot, to_slot }: GapRow): Slots => [BigInt(from_slot), BigInt(to_slot)];

const openIn = (gaps: ReadonlyMap<bigint, GapPlace>): Slots[] =>
  [...gaps].filter(([, { closed }]) => !closed).map(([from, { toSlot }]) => [from, toSlot]);
