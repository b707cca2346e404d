import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';

/** Limit of every wait: so long that no slow machine fails a test, and only one that would never end is ended. */
export const PATIENCE_MS = 600_000;
/** How often a wait is reported while it lasts. */
const TELL_MS = 60_000;
const MOST_SAID = 1_000;

/**
 * Reports on stderr where a test waits, and for what, as long as the wait lasts. It has no effect on the wait.
 * @returns a function that ends the reports
 */
export function reportWait(what: () => string): () => void {
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
 * Calls `so` until it does not throw, and resolves with its result. Does not use the test runner, as benches wait too.
 * @throws the last error, where that never happens
 */
export async function awaited<T>(so: () => T | Promise<T>, interval = 20): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  // Keep the message alone: an error refers to the compared values, and a test that waits for their collection would
  // wait for ever.
  let last = 'nothing was answered yet';
  const over = reportWait(() => last);
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
