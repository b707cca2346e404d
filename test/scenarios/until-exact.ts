export interface UntilExactOptions {
  /** Waits until the index is at the tip and complete. */
  settle(): Promise<void>;
  /** Makes another slot, without actions. */
  nextSlot(): Promise<unknown>;
  /** @throws AssertionError with the first difference */
  compare(): Promise<void>;
  /** The same for figures that need no account read over RPC: compared once, without retries. */
  compareSums?(): Promise<void>;
  /** How long a difference may last, from the first one on. */
  limitMs: number;
}

/** How often a difference must be found before it counts, as how long one comparison takes depends on the machine. */
const LOOKS = 5;
/** Most differences are gone by then. One that is not is printed, so that nobody waits for the limit to see it. */
const TOLD_AFTER_MS = 30_000;

/**
 * Compares until there is no difference: an account is read over RPC a moment after the index is at the tip.
 * @throws AssertionError with a difference that stays
 */
export async function untilExact(options: UntilExactOptions): Promise<void> {
  const { settle, nextSlot, compare, limitMs } = options;
  // An account that came up in the last slot is read once the next has come.
  await settle();
  await nextSlot();
  await settle();
  await options.compareSums?.();
  let differsSince: number | null = null;
  let isTold = false;
  for (let look = 1; ; look += 1) {
    await settle();
    try {
      return await compare();
    } catch (error) {
      differsSince ??= performance.now();
      const isDifference = error instanceof Error && error.name === 'AssertionError';
      const lastsMs = performance.now() - differsSince;
      if (!isDifference || (look >= LOOKS && lastsMs > limitMs)) throw error;
      if (!isTold && look >= LOOKS && lastsMs > TOLD_AFTER_MS) {
        isTold = true;
        console.warn(`differs for ${TOLD_AFTER_MS / 1000} s, ends after ${limitMs / 1000}: ${error.message}`);
      }
      await nextSlot();
    }
  }
}
