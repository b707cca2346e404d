import { setTimeout as pause } from 'node:timers/promises';

/** Nothing here is timed: how slow the machine is decides of no test, only one that would never end is ended. */
export const PATIENCE_MS = 600_000;

/**
 * Resolves once this throws nothing, with what it answers; without the test runner's own, for benches wait too.
 * @throws what it threw last, where that never comes
 */
export async function awaited<T>(so: () => T | Promise<T>, interval = 20): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await so();
    } catch (error) {
      if (performance.now() >= until) throw error;
    }
    await pause(interval);
  }
}
