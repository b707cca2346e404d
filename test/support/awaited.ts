import { vi } from 'vitest';

/** Nothing here is timed: how slow the machine is decides of no test, only one that would never end is ended. */
export const PATIENCE_MS = 600_000;

/** Resolves once this throws nothing, with what it answers. @throws what it threw last, where that never comes */
export const awaited = <T>(so: () => T | Promise<T>, interval = 20): Promise<T> =>
  vi.waitFor(so, { timeout: PATIENCE_MS, interval });
