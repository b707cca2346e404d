/** The value that a share of all values, 0 to 1, lies below; NaN of none. @param sorted in rising order */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
