import type { MadePlace } from '../../runtime/rpc/rpc.ts';

/** Slots in a row of which nothing is listed: who begins again from a snapshot jumps over hundreds. */
const LONG = 100n;
/** Of a page. */
const MOST_PLACES = 16;
const FEWEST_EACH = 2;

interface Stretch {
  fromSlot: bigint;
  toSlot: bigint;
  beside: bigint | null;
}

export interface UnlistedOptions {
  fromSlot: bigint;
  toSlot: bigint;
  /** The lowest slot that was listed before; null: none was. */
  above: bigint | null;
  /** Whether nothing follows. */
  isEnd: boolean;
}

/**
 * Where a node that lists so must have made blocks: in the longest stretches of some slots of which it lists nothing, at
 * both ends and evenly between. @param listed slots, newest first
 */
export function placesToHaveMade(
  listed: readonly bigint[],
  { fromSlot, toSlot, above, isEnd }: UnlistedOptions,
): MadePlace[] {
  const edges = [above, ...listed, ...(isEnd ? [null] : [])];
  const stretches = edges.slice(1).flatMap((low, at): Stretch[] => {
    const high = edges[at] ?? null;
    if (high !== null && low !== null && high - low <= LONG) return [];
    const first = low === null || low < fromSlot ? fromSlot : low + 1n;
    const last = high === null || high > toSlot ? toSlot : high - 1n;
    return first > last ? [] : [{ fromSlot: first, toSlot: last, beside: low ?? listed[at - 1] ?? null }];
  });
  const longest = stretches.toSorted((a, b) => Number(lengthOf(b) - lengthOf(a)));
  const asked = longest.slice(0, MOST_PLACES / FEWEST_EACH);
  return asked.flatMap((stretch) => placesIn(stretch, Math.floor(MOST_PLACES / asked.length)));
}

const lengthOf = ({ fromSlot, toSlot }: Stretch): bigint => toSlot - fromSlot;

function placesIn(stretch: Stretch, most: number): MadePlace[] {
  const { fromSlot, beside } = stretch;
  const length = lengthOf(stretch);
  const steps = BigInt(Math.min(most - 1, Number(length / LONG) + 1));
  const slots = Array.from(
    { length: Number(steps) + 1 },
    (_, at) => fromSlot + (length * BigInt(at)) / steps,
  );
  return [...new Set(slots)].map((slot) => ({ slot, beside }));
}
