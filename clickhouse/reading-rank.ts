/**
 * Which of several readings of a transaction stands, the highest: what the column `has_index` of events, transactions and
 * policy_transactions holds. Its name is from when it told no more than whether the place in the block was known.
 */
export const READING = {
  placeUnknown: 0,
  placeKnown: 1,
  /** The chain does not have the transaction: its policies have nothing of it. */
  struck: 2,
  /** An event that the stream told and the reading that decides does not have: above all that the stream may tell. */
  undone: 5,
  /** A derived event that is none, whatever is read of it later. */
  takenBack: 255,
} as const;

/** Above both places: an amount that the states of the accounts told, which the transaction's own words do not undo. */
const SETTLED = 3;
/** Above all of those, and from it on: read of the chain to decide what the stream told two things of. */
export const DECIDED = 2 * SETTLED;

/** @param index of the transaction in its block, null where the reading does not tell */
export function rankOf(index: number | null, { settled = false, decides = false } = {}): number {
  const place = index === null ? READING.placeUnknown : READING.placeKnown;
  return place + (settled ? SETTLED : 0) + (decides ? DECIDED : 0);
}

/** Whether an event of this rank, one that stands, came with its place in the block. */
export const knowsPlace = (rank: number): boolean => rank % SETTLED === READING.placeKnown;

/** The same of the column, in a question. */
export const KNOWS_PLACE = `has_index % ${SETTLED} = ${READING.placeKnown}`;

/** Whether it is of the reading that decides. */
export const isDecided = (rank: number): boolean => rank >= DECIDED && rank !== READING.takenBack;
