/** One number of a chart. */
export interface Point {
  /** ISO 8601. */
  time: string;
  /** Exact decimal text; null where it is absent. */
  value: string | null;
  /** Why it is absent. */
  reason: string | null;
}
