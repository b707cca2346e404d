import type { GapObstacle } from '../../schemas/records.ts';

/** Slots whose transactions are not in the log yet, both ends included; `toTime` is the last one's block time in unix seconds. */
export interface Gap {
  fromSlot: bigint;
  toSlot: bigint;
  toTime: number | null;
  /** Where the list of its transactions goes on: a signature with an older one behind it. Null or none: from the newest. */
  before?: string | null;
  /** Of a gap of one slot: a transaction that is listed and could not be read. */
  signature?: string;
}

/** What is missing for the gap to be closed now: the node does not reach there. */
export class HistoryUnavailableError extends Error {
  override name = 'HistoryUnavailableError';
  /** What of it a reader of figures should know. */
  readonly obstacle: GapObstacle | null;

  constructor(message: string, obstacle: GapObstacle | null = null) {
    super(message);
    this.obstacle = obstacle;
  }
}

/** No node keeps history that far back. */
export class PrunedError extends HistoryUnavailableError {
  override name = 'PrunedError';
  /** Of the node that was asked. */
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

/** The chain is not far enough behind the gap yet: to be asked again a little later. */
export class NotSettledError extends HistoryUnavailableError {
  override name = 'NotSettledError';
}
