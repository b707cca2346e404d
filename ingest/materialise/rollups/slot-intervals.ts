/** Slots of the narrowest spans, and how many of one width make one of the next. */
export const NARROWEST = 512;
const NEXT = 64;

/** Some four minutes, four hours and ten days of slots: whatever a policy's history, few rows of each are summed. */
export const WIDTHS = [NARROWEST, NARROWEST * NEXT, NARROWEST * NEXT * NEXT] as const;

/** What sums have to be worked out again for. */
export interface Touched {
  mints: ReadonlySet<string>;
  /** Narrowest spans: a slot divided by their width. */
  spans: ReadonlySet<bigint>;
}

export const spanOf = (slot: bigint): bigint => slot / BigInt(NARROWEST);

export const firstSlotOf = (span: bigint): bigint => span * BigInt(NARROWEST);

/** The spans of `width` that hold these. */
export function widened(spans: Iterable<bigint>, width: number): bigint[] {
  const each = BigInt(width / NARROWEST);
  return [...new Set([...spans].map((span) => span / each))];
}
