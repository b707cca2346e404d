import { type GapRow, WINDOW_SLOTS } from '../../clickhouse/progress-tables.ts';
import type { RecomputeRecord } from '../../schemas/records.ts';
import type { GapPlace } from './gap-rows.ts';

type Slotted = { slot: string; mint: string };

/** What a batch writes of events, takes back of them, or says that others have written. */
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
 * Whether some of it lies so far behind what the partition had applied that who looks at the newest slots alone does not
 * find it. What lies in an open gap is told of by the closing of that. One that was closed before is told of as it opens:
 * who is away from before that until behind its closing finds as many closed as there were. It goes by the batch and
 * by where the partition stood, never by the events that are stored: one that is tried again finds its own there.
 */
export function isLate({ facts, struck, records, gaps }: EventsOfBatch, before: Before): boolean {
  const isBehind = (slot: bigint) => slot + WINDOW_SLOTS <= before.slot;
  const events = [...facts.events, ...facts.derived, ...struck.events].filter(({ mint }) => mint !== '');
  const behind = events.map(({ slot }) => BigInt(slot)).filter(isBehind);
  const open = behind.length === 0 ? [] : [...openIn(before.gaps), ...gaps.opened.map(slotsOf)];
  const isInGap = (slot: bigint) => open.some(([from, to]) => from <= slot && slot <= to);
  // Around which slots others have written is not known more closely.
  return (
    behind.some((slot) => !isInGap(slot)) ||
    records.recomputes.some(({ slots }) => slots.some(isBehind)) ||
    [...gaps.opened, ...gaps.progressed].some((row) => opensAnew(row, before))
  );
}

/** Of one whose rows are ahead of the partition's place nobody knows what it was before: it may have been closed. */
function opensAnew({ from_slot, log_offset, closed }: GapRow, { highest, gaps, gapsAhead }: Before): boolean {
  const [from, offset] = [BigInt(from_slot), BigInt(log_offset)];
  // What is read again opened it then.
  if (closed === 1 || offset <= highest) return false;
  return gaps.get(from)?.closed === true || offset <= (gapsAhead.get(from) ?? -1n);
}

type Slots = [from: bigint, to: bigint];

const slotsOf = ({ from_slot, to_slot }: GapRow): Slots => [BigInt(from_slot), BigInt(to_slot)];

const openIn = (gaps: ReadonlyMap<bigint, GapPlace>): Slots[] =>
  [...gaps].filter(([, { closed }]) => !closed).map(([from, { toSlot }]) => [from, toSlot]);
