import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';

/** Nothing here is timed: how slow the machine is decides of no test, only one that would never end is ended. */
export const PATIENCE_MS = 600_000;
/** Who waits for longer says so, and again each time that it has passed. */
const TELL_MS = 60_000;
const MOST_SAID = 1_000;

/**
 * Says on stderr where somebody waits, and for what, for as long as that takes; it decides of nothing.
 * @returns what ends it
 */
export function telling(what: () => string): () => void {
  const { stack = '' } = new Error();
  const isOfTest = (line: string) => /\.test\.ts|\bsupport\/(?!awaited)/.test(line);
  const from = stack.split('\n').find(isOfTest)?.trim() ?? '';
  const begun = performance.now();
  const tell = () => {
    const seconds = Math.round((performance.now() - begun) / 1_000);
    process.stderr.write(`waits for ${seconds} s ${from}: ${said(what).slice(0, MOST_SAID)}\n`);
  };
  const timer = setInterval(tell, TELL_MS).unref();
  return () => clearInterval(timer);
}

function said(what: () => string): string {
  try {
    return what();
  } catch (error) {
    return `it cannot be said for what: ${error}`;
  }
}

/**
 * Resolves once this throws nothing, with what it answers; without the test runner's own, for benches wait too.
 * @throws what it threw last, where that never comes
 */
export async function awaited<T>(so: () => T | Promise<T>, interval = 20): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  // Its words alone: an error holds what was compared, and who waits for that to be let go would wait for ever.
  let last = 'nothing was answered yet';
  const over = telling(() => last);
  try {
    for (;;) {
      try {
        return await so();
      } catch (error) {
        last = String(error);
        if (performance.now() >= until) throw error;
      }
      await pause(interval);
    }
  } finally {
    over();
  }
}
