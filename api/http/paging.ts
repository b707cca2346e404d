const OFFSET_MAX = 100_000;

/**
 * A number of the query: out of range it is clamped, what is no whole number falls back to the default.
 */
function clamped(text: string | null, fallback: number, min: number, max: number): number {
  if (text === null || !/^[+-]?\d+$/.test(text.trim())) return fallback;
  return Math.min(Math.max(Number(text), min), max);
}

/** `limit` and `offset` as they are used, to be echoed. */
export function pageOf(
  query: URLSearchParams,
  limits: { fallback: number; max: number; maxOffset?: number },
): { limit: number; offset: number } {
  return {
    limit: clamped(query.get('limit'), limits.fallback, 1, limits.max),
    offset: clamped(query.get('offset'), 0, 0, limits.maxOffset ?? OFFSET_MAX),
  };
}
