/** Slots of the narrowest intervals, and how many of one width make one of the next. */
export const NARROWEST = 512;
const NEXT = 64;

/** Some four minutes, four hours and ten days of slots: whatever a policy's history, few rows of each are summed. */
export const WIDTHS = [NARROWEST, NARROWEST * NEXT, NARROWEST * NEXT * NEXT] as const;

/**
 * Spans in one statement: the list travels as a bound parameter, of which a server takes 131,072 characters, encoded.
 */
export const SPANS_PER_STATEMENT = 5_000;

/** What sums have to be worked out again for. */
export interface Touched {
  mints: ReadonlySet<string>;
  /** Narrowest intervals: a slot divided by their width. */
  intervals: ReadonlySet<bigint>;
}

export const intervalOf = (slot: bigint): bigint => slot / BigInt(NARROWEST);

export const firstSlotOfInterval = (interval: bigint): bigint => interval * BigInt(NARROWEST);

/** The intervals of `width` that hold these. */
export function enclosingIntervals(intervals: Iterable<bigint>, width: number): bigint[] {
  const each = BigInt(width / NARROWEST);
  return [...new Set([...intervals].map((interval) => interval / each))];
}
