import { pause } from '../../runtime/process/lifecycle.ts';

export interface Due {
  /** By performance.now(). */
  notBefore: number;
}

/**
 * The first whose time has come; where there is none, null once the next one's has, something was added, or the signal
 * was given.
 * @param onWait told how to wake whoever waits.
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
