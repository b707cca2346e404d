/**
 * Which of several readings of a transaction stands, the highest: what the column `has_index` of events, transactions and
 * policy_transactions holds. Its name is from when it told no more than whether the place in the block was known.
 */
export const READING = {
  placeUnknown: 0,
  placeKnown: 1,
  /** The chain does not have the transaction: its policies have nothing of it. */
  struck: 2,
  /** A derived event that is none, whatever is read of it later. */
  takenBack: 255,
} as const;

/** Above both places: an amount that the states of the accounts told, which the transaction's own words do not undo. */
const SETTLED = 3;

/** @param index of the transaction in its block, null where the reading does not tell */
export function rankOf(index: number | null, settled = false): number {
  const place = index === null ? READING.placeUnknown : READING.placeKnown;
  return settled ? place + SETTLED : place;
}

/** Whether an event of this rank, one that stands, came with its place in the block. */
export const knowsPlace = (rank: number): boolean => rank % SETTLED === READING.placeKnown;
