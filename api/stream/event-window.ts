import type { EventIdentity } from '../../clickhouse/queries/activity/stream-events.ts';
import { type ChainPosition, WINDOW_SLOTS } from './position.ts';

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
   * Moves on to `slot`: the events that are new, in the order of the chain. One that came late, into a slot that was
   * told already, is told too, and leaves the position at the tip.
   * @param identities all events with readFrom() < slot <= `slot`, in the order of the chain.
   */
  moveTo(slot: bigint, closedGaps: number, identities: readonly EventIdentity[]): Fresh[];
}

export function createEventWindow(
  slot: bigint,
  closedGaps: number,
  identities: readonly EventIdentity[],
): EventWindow {
  let rows = [...identities];
  let tip = positionAt(rows, slot, countIn(rows, slot), closedGaps);
  const told = () => new Set(rows.map(identityOf));
  return {
    tip: () => tip,
    readFrom: () => (tip.slot > WINDOW_SLOTS ? tip.slot - WINDOW_SLOTS : 0n),
    moveTo: (to, gaps, all) => {
      const known = told();
      const before = tip;
      rows = [...all];
      tip = positionAt(rows, to, countIn(rows, to), gaps);
      const ordinals = new Map<string, number>();
      const fresh: Fresh[] = [];
      const late: Fresh[] = [];
      for (const row of rows) {
        const ordinal = (ordinals.get(row.slot) ?? 0) + 1;
        ordinals.set(row.slot, ordinal);
        const identity = identityOf(row);
        if (known.has(identity)) continue;
        const slot = BigInt(row.slot);
        const isLate = slot < before.slot || (slot === before.slot && ordinal <= before.ordinal);
        if (isLate) late.push({ identity, position: tip });
        else fresh.push({ identity, position: positionAt(rows, slot, ordinal, gaps) });
      }
      // Who has a late one has all the others.
      return [...fresh, ...late];
    },
  };
}

const countIn = (rows: readonly EventIdentity[], slot: bigint) =>
  rows.filter((row) => BigInt(row.slot) === slot).length;

function positionAt(
  rows: readonly EventIdentity[],
  slot: bigint,
  ordinal: number,
  closedGaps: number,
): ChainPosition {
  return { slot, ordinal, recent: recentOf(rows, slot), closedGaps };
}

/** How many events the last slots up to this one have. */
export function recentOf(rows: readonly EventIdentity[], slot: bigint): number {
  let count = 0;
  for (const row of rows) {
    const at = BigInt(row.slot);
    if (at <= slot && at > slot - WINDOW_SLOTS) count += 1;
  }
  return count;
}
