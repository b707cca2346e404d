/** The value that a share of the others, 0 to 1, does not reach. @param sorted in rising order; NaN where empty. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
