/** Slots whose transactions are not in the log yet, both ends included; `toTime` is the last one's block time in unix seconds. */
export interface Gap {
  fromSlot: bigint;
  toSlot: bigint;
  toTime: number | null;
}

/** What is missing for the gap to be closed now: the node does not reach there. */
export class HistoryUnavailableError extends Error {
  override name = 'HistoryUnavailableError';
}
