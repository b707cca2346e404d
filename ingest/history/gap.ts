import type { GapObstacle } from '../../schemas/records.ts';

/** Slots whose transactions are not in the log yet, both ends included; `toTime` is the last one's block time in unix seconds. */
export interface Gap {
  fromSlot: bigint;
  toSlot: bigint;
  toTime: number | null;
  /**
   * A signature from which the list of its transactions goes on to older ones; it is not the oldest. Null or absent:
   * from the newest.
   */
  before?: string | null;
  /** Of a gap of one slot: a transaction that is listed and could not be read. */
  signature?: string;
}

/** The gap cannot be closed now: no node gives all that is needed. */
export class HistoryUnavailableError extends Error {
  override name = 'HistoryUnavailableError';
  /** What readers of figures are to be told of it; null: nothing. */
  readonly obstacle: GapObstacle | null;

  constructor(message: string, obstacle: GapObstacle | null = null) {
    super(message);
    this.obstacle = obstacle;
  }
}

/** No node keeps history that far back. */
export class PrunedError extends HistoryUnavailableError {
  override name = 'PrunedError';
  /** The first slot that the node keeps. */
  readonly firstSlot: bigint;

  constructor(firstSlot: bigint, fromSlot: bigint) {
    const message = `the node's first block is ${firstSlot}, the gap begins at ${fromSlot}: name an archive node beside it, or, if the program's first transaction is later, set PROGRAM_START_SLOT to its slot`;
    super(message, { type: 'pruned', firstSlot });
    this.firstSlot = firstSlot;
  }
}

/** The node does not know where the list is to go on: it may have to begin anew. */
export class PlaceUnknownError extends HistoryUnavailableError {
  override name = 'PlaceUnknownError';
}

/** The chain is not far enough past the gap yet: to be asked again a little later. */
export class NotSettledError extends HistoryUnavailableError {
  override name = 'NotSettledError';
}
