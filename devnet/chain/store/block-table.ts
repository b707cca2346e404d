/** Where a transaction stands: its slot, and its index in the block. */
export interface Position {
  slot: bigint;
  index: number;
}

/** A transaction in a list, and whether it failed. */
export interface Listed extends Position {
  isFailed: boolean;
}

/** The blocks of a stretch of the ledger, oldest first. Its transactions are counted from 0 on, across the blocks. */
export interface BlockTable {
  slots: ArrayLike<number>;
  /** Where the record of each stands in the ledger. */
  places: ArrayLike<number>;
  /** How many transactions of the stretch are in front of each. */
  before: ArrayLike<number>;
  isFailed(tx: number): boolean;
}

/** What memory holds of an archived stretch of the ledger. */
export interface Segment {
  /** Where its index begins and ends in the archive. */
  at: number;
  end: number;
  /** Slots of its first block and its last. */
  first: number;
  last: number;
  blocks: number;
  txs: number;
  keys: number;
  chunks: number;
  /** The place in the ledger behind its last record. */
  to: number;
}

/** How many of an ascending list are below `value`. */
export function countBelow(list: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place of the record of a slot's block; null where the stretch has none. */
export function placeOf({ slots, places }: BlockTable, slot: bigint): number | null {
  const wanted = Number(slot);
  const at = countBelow(slots, wanted);
  return slots[at] === wanted ? (places[at] as number) : null;
}

/** Where the stretch's transaction with that number stands. */
export function positionOf({ slots, before }: BlockTable, tx: number): Position {
  // Blocks without transactions have the same count as the one behind them.
  const at = countBelow(before, tx + 1) - 1;
  return { slot: BigInt(slots[at] as number), index: tx - (before[at] as number) };
}

/** How many of the `txs` transactions of a stretch are older than a position. */
function olderThan({ slots, before }: BlockTable, { slot, index }: Position, txs: number): number {
  const wanted = Number(slot);
  const at = countBelow(slots, wanted);
  if (at === slots.length) return txs;
  return (before[at] as number) + (slots[at] === wanted ? index : 0);
}

/** The newest of a list of transactions, newest first, that are older than `before`. */
export function newest(
  table: BlockTable,
  list: readonly number[],
  { before, limit, txs }: { before: Position | null; limit: number; txs: number },
): Listed[] {
  const end = before === null ? list.length : countBelow(list, olderThan(table, before, txs));
  return list
    .slice(Math.max(0, end - limit), end)
    .reverse()
    .map((tx) => ({ ...positionOf(table, tx), isFailed: table.isFailed(tx) }));
}
