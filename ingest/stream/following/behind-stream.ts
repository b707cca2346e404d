import { setTimeout as delay } from 'node:timers/promises';

/** While the stream comes no further for so long, a reading goes into the log before it. */
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;

/**
 * Waits until the stream has released a slot. What was read over RPC at that slot stands behind it in the log, then: a
 * change that the stream is just about to bring would look like one that it never brought.
 * @param released the slot that the stream released last; null before one.
 */
export async function behindStream(
  slot: bigint,
  released: () => bigint | null,
  signal: AbortSignal,
): Promise<void> {
  let last = released();
  let since = performance.now();
  while (!signal.aborted && (last === null || last < slot)) {
    await delay(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
    const now = released();
    if (now !== last) since = performance.now();
    else if (performance.now() - since > PATIENCE_MS) return;
    last = now;
  }
}
