const MOST_SLOT = (1n << 64n) - 1n;

/** A version that grows as slots get lower: of rows of one key the one with the lowest slot stands. */
export const versionOfLowest = (slot: bigint): string => (MOST_SLOT - slot).toString();
