const MOST = 0xffff_ffff;

/** The place of a transaction in its block as a node tells it; null where it tells none that can be one. */
export function blockIndexOf(value: unknown): number | null {
  const isIndex = Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST;
  return isIndex ? (value as number) : null;
}
