import { pause } from '../../runtime/process/lifecycle.ts';

export interface Due {
  /** By performance.now(). */
  notBefore: number;
}

/**
 * The first task whose time has come. Where there is none it waits until the next one's time has come, a task was
 * added, or the signal aborted, and answers null.
 * @param onWait told, before the wait, how to end it.
 */
export async function nextDue<T extends Due>(
  all: readonly T[],
  onWait: (wake: () => void) => void,
  signal: AbortSignal,
): Promise<T | null> {
  const now = performance.now();
  const due = all.find(({ notBefore }) => notBefore <= now);
  if (due !== undefined) return due;
  const woken = new AbortController();
  onWait(() => woken.abort());
  const soonest = Math.min(...all.map(({ notBefore }) => notBefore));
  await pause(soonest - now, AbortSignal.any([signal, woken.signal]));
  return null;
}
