/**
 * The rank of a reading of a transaction: of several the highest stands. The column `has_index` of events, transactions
 * and policy_transactions holds it, whose name is from when it told only whether the place in the block was known.
 */
export const READING = {
  placeUnknown: 0,
  placeKnown: 1,
  /** The chain does not have the transaction: its policies have nothing of it. */
  struck: 2,
  /** An event that the stream brought and the deciding reading does not have: above all that the stream may bring. */
  undone: 5,
  /** A derived event that turned out not to exist, whatever is read of it later. */
  takenBack: 255,
} as const;

/** Above both places: an amount settled from account states, which a reading of the transaction alone does not undo. */
const SETTLED = 3;
/** From here on, above all of those: read over RPC to decide between two versions that the stream brought. */
export const DECIDED = 2 * SETTLED;

/** @param index of the transaction in its block, null where the reading does not tell */
export function rankOf(index: number | null, { settled = false, decides = false } = {}): number {
  const place = index === null ? READING.placeUnknown : READING.placeKnown;
  return place + (settled ? SETTLED : 0) + (decides ? DECIDED : 0);
}

/** Whether an event of this rank, one that stands, came with its place in the block. */
export const knowsPlace = (rank: number): boolean => rank % SETTLED === READING.placeKnown;

/** The same as a condition on the column. */
export const KNOWS_PLACE = `has_index % ${SETTLED} = ${READING.placeKnown}`;

/** Whether a row of this rank is of a deciding reading. */
export const isDecided = (rank: number): boolean => rank >= DECIDED && rank !== READING.takenBack;
