import { WINDOW_SLOTS } from '../../clickhouse/progress-tables.ts';
import type { EventIdentity } from '../../clickhouse/queries/activity/stream-events.ts';
import { FIRST_DERIVED_POSITION } from '../../schemas/extract/groups.ts';
import type { ChainPosition, LateArrivals } from './position.ts';
import { recentIn } from './recent.ts';

/** An event that was not sent yet, and the position of a client that has it. */
export interface Fresh {
  identity: string;
  position: ChainPosition;
}

export const identityOf = ({ signature, position }: { signature: string; position: number }) =>
  `${signature}.${position}`;

/** A mint whose events are others than were sent, and the position of a client that has been told so. */
export interface TakenBack {
  mint: string;
  position: ChainPosition;
}

/** The events of the last slots, which tell what is new and what came late. */
export interface EventWindow {
  /** The position up to which everything was sent. */
  tip(): ChainPosition;
  /** The slot behind which identities have to be read to move the window on. */
  readFrom(): bigint;
  /**
   * The window up to `slot`, and the events that are new in it, in the order of the chain. Those that came late, into
   * slots that were sent already, stand first, and before them what was taken back: a client that has a new one has all
   * that too, wherever it is cut off. Events in place of those that were taken back are not new: they would count
   * twice. No position counts what else was filled in, since a client that has these has not been told of that. This
   * window stays as it is.
   * @param identities all events with readFrom() < slot <= `slot`, in the order of the chain.
   */
  movedTo(slot: bigint, lateArrivals: LateArrivals, identities: readonly EventIdentity[]): MovedWindow;
}

export interface MovedWindow {
  window: EventWindow;
  /** Each mint once. */
  takenBack: TakenBack[];
  fresh: Fresh[];
}

export function createEventWindow(
  slot: bigint,
  lateArrivals: LateArrivals,
  identities: readonly EventIdentity[],
): EventWindow {
  const before = positionsIn(identities, lateArrivals)(slot, countIn(identities, slot));
  const readFrom = slot > WINDOW_SLOTS ? slot - WINDOW_SLOTS : 0n;
  return {
    tip: () => before,
    readFrom: () => readFrom,
    movedTo: (to, newest, rows) => {
      const known = new Set(identities.map(identityOf));
      const here = new Set(rows.map(identityOf));
      const gone = identities.filter((row) => !here.has(identityOf(row)) && BigInt(row.slot) > readFrom);
      const redone = new Set(gone.map(partOf));
      const isHad = (row: EventIdentity) => known.has(identityOf(row)) || redone.has(partOf(row));
      const positionAt = positionsIn(rows, lateArrivals);
      const lastKnown = rows.findLastIndex(isHad);
      const ordinals = new Map<string, number>();
      const fresh: Fresh[] = [];
      const late: string[] = [];
      let ordinalAtTip = 0;
      for (const [at, row] of rows.entries()) {
        const text = row.slot;
        const ordinal = (ordinals.get(text) ?? 0) + 1;
        ordinals.set(text, ordinal);
        const identity = identityOf(row);
        const slot = BigInt(text);
        if (slot === before.slot && at <= lastKnown) ordinalAtTip = ordinal;
        if (isHad(row)) continue;
        if (slot < before.slot || (slot === before.slot && at < lastKnown)) late.push(identity);
        else fresh.push({ identity, position: positionAt(slot, ordinal) });
      }
      const withLate = positionAt(before.slot, ordinalAtTip);
      const mints = [...new Set(gone.map(({ mint }) => mint))];
      // Only with the last of them has a client all that the counts of the new position stand for.
      const last = mints.length + late.length - 1;
      const placed = (at: number) => (at === last ? withLate : before);
      const takenBack = mints.map((mint, at) => ({ mint, position: placed(at) }));
      const told = late.map((identity, at) => ({ identity, position: placed(mints.length + at) }));
      return { window: createEventWindow(to, newest, rows), takenBack, fresh: [...told, ...fresh] };
    },
  };
}

/**
 * What a client at `since` was not sent of everything up to `until`; null where something came in behind its position.
 */
export function missedSince(
  since: ChainPosition,
  until: ChainPosition,
  identities: readonly EventIdentity[],
): Fresh[] | null {
  const { recent, derived } = positionsIn(identities, since)(since.slot, since.ordinal);
  if (recent !== since.recent || derived !== since.derived) return null;
  return createEventWindow(since.slot, since, upTo(identities, since)).movedTo(until.slot, until, identities)
    .fresh;
}

/** The events that a client at this position has. */
function upTo(identities: readonly EventIdentity[], { slot, ordinal }: ChainPosition): EventIdentity[] {
  let inSlot = 0;
  return identities.filter((row) => {
    const at = BigInt(row.slot);
    if (at === slot) inSlot += 1;
    return at < slot || (at === slot && inSlot <= ordinal);
  });
}

/** Names what a transaction did for a policy. */
const partOf = ({ slot, signature, mint }: EventIdentity) => `${slot}.${signature}.${mint}`;

const countIn = (rows: readonly EventIdentity[], slot: bigint) =>
  rows.filter((row) => BigInt(row.slot) === slot).length;

function positionsIn(rows: readonly EventIdentity[], { closedGaps, late }: LateArrivals) {
  const recent = recentOf(rows);
  const derived = recentOf(rows.filter(({ position }) => position >= FIRST_DERIVED_POSITION));
  return (slot: bigint, ordinal: number): ChainPosition => ({
    slot,
    ordinal,
    recent: recent(slot),
    derived: derived(slot),
    closedGaps,
    late,
  });
}

/** How many events the last slots up to one have, of rows in the order of the chain. */
function recentOf(rows: readonly EventIdentity[]): (slot: bigint) => number {
  return recentIn(
    rows.map((row) => BigInt(row.slot)),
    WINDOW_SLOTS,
  );
}
