export interface UntilExactOptions {
  /** The index is at the tip and whole. */
  settle(): Promise<void>;
  /** Another slot, without actions. */
  nextSlot(): Promise<unknown>;
  /** @throws AssertionError with the first difference */
  compare(): Promise<void>;
  /** For a difference to go away, from the first one on. */
  limitMs: number;
  /** How often it must be found at least before it stays: how long one look takes is the machine's. */
  looks?: number;
}

const LOOKS = 5;

/**
 * Compares until there is no difference: an account is read over RPC a moment after the index is at the tip.
 * @throws AssertionError with a difference that stays
 */
export async function untilExact(options: UntilExactOptions): Promise<void> {
  const { settle, nextSlot, compare, limitMs, looks = LOOKS } = options;
  // An account that came up in the last slot is read once the next has come.
  await settle();
  await nextSlot();
  let differsSince: number | null = null;
  for (let look = 1; ; look += 1) {
    await settle();
    try {
      return await compare();
    } catch (error) {
      differsSince ??= performance.now();
      const isDifference = error instanceof Error && error.name === 'AssertionError';
      if (!isDifference || (look >= looks && performance.now() - differsSince > limitMs)) throw error;
      await nextSlot();
    }
  }
}
