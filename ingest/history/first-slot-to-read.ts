import { type Gap, HistoryUnavailableError, NotSettledError } from './gap.ts';

/** What is stored of the program's transactions. */
export interface StoredBefore {
  /** The lowest marker that is applied; absent where whatever the log holds is stored. */
  applied?(): Promise<bigint | null>;
  /** Whether a transaction of an earlier slot is stored; absent where nobody can tell: none is assumed. */
  hasBefore?(slot: bigint): Promise<boolean>;
}

/**
 * The slot from which on a gap is read: PROGRAM_START_SLOT where that is later than the gap's first slot. All the same
 * the gap's first slot where an older transaction is stored, or the gap names a transaction of its own: the program is
 * older than the setting then, and sums without what is in the gap would be of what lies around it only.
 * @throws NotSettledError while what is older may not be stored yet, HistoryUnavailableError where the store cannot
 * tell
 */
export async function firstSlotToRead(gap: Gap, startSlot: bigint, store: StoredBefore): Promise<bigint> {
  const { fromSlot, toSlot, signature } = gap;
  if (startSlot <= fromSlot || signature !== undefined) return fromSlot;
  if (fromSlot === 0n || store.hasBefore === undefined) return startSlot;
  try {
    // The log has a marker behind the gap only once it has what was read before the gap was opened.
    const applied = store.applied === undefined ? null : ((await store.applied()) ?? -1n);
    if (applied !== null && applied <= toSlot)
      throw new NotSettledError(
        `the store has applied the log up to slot ${applied}, not past ${toSlot} yet`,
      );
    return (await store.hasBefore(fromSlot)) ? fromSlot : startSlot;
  } catch (error) {
    if (error instanceof NotSettledError) throw error;
    throw new HistoryUnavailableError(
      `the store cannot say now whether anything before slot ${fromSlot} is stored`,
    );
  }
}
