import type { EventIdentity } from '../../clickhouse/queries/activity/stream-events.ts';
import { type ChainPosition, WINDOW_SLOTS } from './position.ts';
import { recentIn } from './recent.ts';

/** An event that nobody was told of, and where a client is that has it. */
export interface Fresh {
  identity: string;
  position: ChainPosition;
}

export const identityOf = ({ signature, position }: { signature: string; position: number }) =>
  `${signature}.${position}`;

/** The events of the last slots, by which one knows what is new and what came late. */
export interface EventWindow {
  /** Everything of the slots up to this one has been told. */
  tip(): ChainPosition;
  /** From which slot on identities are to be read to move to another. */
  readFrom(): bigint;
  /**
   * The window up to `slot`, and the events that are new in it, in the order of the chain. One that came late, into a slot
   * that was told already, is told too, and leaves the position at the tip. This window stays as it is.
   * @param identities all events with readFrom() < slot <= `slot`, in the order of the chain.
   */
  movedTo(slot: bigint, closedGaps: number, identities: readonly EventIdentity[]): MovedWindow;
}

export interface MovedWindow {
  window: EventWindow;
  fresh: Fresh[];
}

export function createEventWindow(
  slot: bigint,
  closedGaps: number,
  identities: readonly EventIdentity[],
): EventWindow {
  const before = positionsIn(identities)(slot, countIn(identities, slot), closedGaps);
  return {
    tip: () => before,
    readFrom: () => (slot > WINDOW_SLOTS ? slot - WINDOW_SLOTS : 0n),
    movedTo: (to, gaps, rows) => {
      const known = new Set(identities.map(identityOf));
      const positionAt = positionsIn(rows);
      const window = createEventWindow(to, gaps, rows);
      const tip = window.tip();
      const ordinals = new Map<string, number>();
      const fresh: Fresh[] = [];
      const late: Fresh[] = [];
      for (const row of rows) {
        const text = row.slot;
        const ordinal = (ordinals.get(text) ?? 0) + 1;
        ordinals.set(text, ordinal);
        const identity = identityOf(row);
        if (known.has(identity)) continue;
        const slot = BigInt(text);
        const isLate = slot < before.slot || (slot === before.slot && ordinal <= before.ordinal);
        if (isLate) late.push({ identity, position: tip });
        else fresh.push({ identity, position: positionAt(slot, ordinal, gaps) });
      }
      // Who has a late one has all the others.
      return { window, fresh: [...fresh, ...late] };
    },
  };
}

const countIn = (rows: readonly EventIdentity[], slot: bigint) =>
  rows.filter((row) => BigInt(row.slot) === slot).length;

function positionsIn(rows: readonly EventIdentity[]) {
  const recent = recentOf(rows);
  return (slot: bigint, ordinal: number, closedGaps: number): ChainPosition => ({
    slot,
    ordinal,
    recent: recent(slot),
    closedGaps,
  });
}

/** How many events the last slots up to one have, of rows in the order of the chain. */
export function recentOf(rows: readonly EventIdentity[]): (slot: bigint) => number {
  return recentIn(
    rows.map((row) => BigInt(row.slot)),
    WINDOW_SLOTS,
  );
}
