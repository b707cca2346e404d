import { type Gap, HistoryUnavailableError, NotSettledError } from './gap.ts';

/** What is stored of the program's transactions. */
export interface StoredBefore {
  /** The lowest marker that is applied; absent where what the log holds is what is stored. */
  applied?(): Promise<bigint | null>;
  /** Whether a transaction of an earlier slot is stored; absent where none is. */
  hasBefore?(slot: bigint): Promise<boolean>;
}

/**
 * The slot from which on a gap is read: the one of the program's first transaction as it is set, and the gap's first all
 * the same where something older is stored, or a transaction of it is named. The program is older than that slot then,
 * and without what is in the gap sums would be of what lies around it.
 * @throws NotSettledError while what is older may not be stored yet, HistoryUnavailableError where nobody can tell
 */
export async function beginOf(gap: Gap, startSlot: bigint, store: StoredBefore): Promise<bigint> {
  const { fromSlot, toSlot, signature } = gap;
  if (startSlot <= fromSlot || signature !== undefined) return fromSlot;
  if (fromSlot === 0n || store.hasBefore === undefined) return startSlot;
  try {
    // The log has a marker behind the gap only where it has what was read before the gap was opened.
    const applied = store.applied === undefined ? null : ((await store.applied()) ?? -1n);
    if (applied !== null && applied <= toSlot)
      throw new NotSettledError(`what is stored is of slot ${applied}, not past ${toSlot}`);
    return (await store.hasBefore(fromSlot)) ? fromSlot : startSlot;
  } catch (error) {
    if (error instanceof NotSettledError) throw error;
    throw new HistoryUnavailableError(
      `whether something before slot ${fromSlot} is stored cannot be told now`,
    );
  }
}
