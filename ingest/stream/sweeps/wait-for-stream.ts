import { pause } from '../../../runtime/process/lifecycle.ts';

export const newestSlot = (records: readonly { slot: bigint }[]): bigint => {
  let newest = 0n;
  for (const { slot } of records) if (slot > newest) newest = slot;
  return newest;
};

const LOOK_MS = 20;
/**
 * After so many looks without progress of the stream, a reading goes into the log before it. These six seconds are
 * longer than the core is held for the stream beside it, while neither comes further.
 */
const MOST_LOOKS = 300;

/**
 * Waits until the stream has brought a slot, so that what was read over RPC at that slot stands behind it in the log.
 * In front of it, a change that the stream is just about to bring would look like one that it never brought.
 * @param brought the slot up to which the stream has brought everything; null before one.
 */
export async function waitForStream(
  slot: bigint,
  brought: () => bigint | null,
  signal: AbortSignal,
): Promise<void> {
  let last = brought();
  for (let looks = 0; !signal.aborted && (last === null || last < slot) && looks < MOST_LOOKS; looks += 1) {
    await pause(LOOK_MS, signal);
    const now = brought();
    if (now !== last) looks = -1;
    last = now;
  }
}
